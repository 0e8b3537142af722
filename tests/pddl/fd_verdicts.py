"""Fast Downward's own verdicts, in a process of its own: the judge of the static check.

    python fd_verdicts.py < pairs.jsonl      one JSON line {"accepted", "reason"} for each pair

A pair is refused if the translator raises anything; a task too large to ground in time is not.
"""

import io
import json
import os
import signal
import sys


class TooSlow(BaseException):
    pass


def give_up(*_: object) -> None:
    raise TooSlow


def lines(text: str) -> io.TextIOWrapper:
    """The text as the translator opens a file."""
    return io.TextIOWrapper(io.BytesIO(text.encode("utf-8", "surrogatepass")), "ISO-8859-1")


def main() -> None:
    sys.argv = sys.argv[:1]
    from fast_downward.translate import main as translator
    from fast_downward.translate import normalize, options
    from fast_downward.translate.pddl_parser import lisp_parser, parsing_functions

    options.set_options(["domain", "problem"])
    signal.signal(signal.SIGALRM, give_up)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        pair = json.loads(line)
        signal.alarm(5)
        reason = ""
        try:
            domain = lisp_parser.parse_nested_list(lines(pair["domain"]))
            problem = lisp_parser.parse_nested_list(lines(pair["problem"]))
            task = parsing_functions.parse_task(domain, problem)
            normalize.normalize(task)
            translator.pddl_to_sas(task)
        except TooSlow:
            pass
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}"
        finally:
            signal.alarm(0)
        answers.write(json.dumps({"accepted": not reason, "reason": reason}) + "\n")
    answers.close()


if __name__ == "__main__":
    main()
