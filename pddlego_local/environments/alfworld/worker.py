"""The process that plays one ALFWorld game at a time. It is a script, run by path and
never imported.

The parser of ALFWorld's engine (`alfworld` and `textworld`) is global to a process, and
threads corrupt it. Each environment therefore has its own process. Requests and replies
are JSON objects, one per line, on standard input and output:

    (start)                                    → {"ready": true} or {"missing": what}
                                               {"load": {"domain", "grammar",
                                               "problem"}} → a reply of the game, or
                                               {"unsolvable": why}
    {"step": "go to fridge 1"}                 → a reply of the game
    {"facts": ["opened", …]}                   → {"facts": [["opened", "fridge 1"], …]}

A reply of the game is {"text", "commands", "won"}. Any other failure ends the process
with a traceback on standard error. The process also ends when its standard input closes
or its parent has ended.
"""

import functools
import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

INSTALL = (
    "type `rm -r .venv-alfworld; make alfworld`, or repair the environment by hand"
)
UNREACHABLE = "val1"
"""The engine raises KeyError for this name if no goal can be reached."""
PROBE = (
    (
        "(define (domain d) (:requirements :typing) (:types t) (:predicates (p ?x -"
        " t))\n (:action a :parameters (?x - t) :precondition () :effect (p ?x)))"
    ),
    "(define (problem e) (:domain d) (:objects b - t) (:init) (:goal (p b)))",
)


class Engine:
    """ALFWorld's text engine without its repeated work. It plays exactly as the
    original does.
    """

    def __init__(self) -> None:
        """Raises ImportError if a package is missing or damaged."""
        import fast_downward
        import textworld
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
        from textworld.envs.pddl import PddlEnv

        fast_downward.pddl2sas = translating_once(fast_downward.pddl2sas)
        try:
            fast_downward.pddl2sas(*PROBE)
        except Exception as why:  # another package overwrote its files
            raise ImportError(
                f"fast-downward-textworld is damaged ({why!r}); {INSTALL}"
            ) from None
        self._plain: Any = PddlEnv(
            textworld.EnvInfos(won=True, admissible_commands=True)
        )
        self._named: Any = AlfredDemangler(self._plain, shuffle=False)

    def load(self, texts: dict[str, str]) -> dict[str, Any]:
        game = {f"pddl_{part}": texts[part] for part in ("domain", "problem")}
        try:
            self._named.load({**game, "grammar": texts["grammar"]})
        except KeyError as error:
            if error.args != (UNREACHABLE,):
                raise
            return {"unsolvable": "its goal cannot be reached from where it starts"}
        grammar = self._plain._logic.grammar
        grammar.derive = wording_commands_once(grammar.derive)
        return self._reply(self._named.reset())

    def step(self, command: str) -> dict[str, Any]:
        return self._reply(self._named.step(command)[0])

    def facts(self, predicates: list[str]) -> dict[str, Any]:
        """Returns the true facts of these predicates, with the names of the texts."""
        things = self._plain._entity_infos.items()
        names = {name: info.name.strip() for name, info in things}
        facts = [
            [fact.name, *(names[term.name] for term in fact.arguments)]
            for fact in self._plain._pddl_state.facts
            if fact.name in predicates
        ]
        return {"facts": sorted(facts)}

    def _reply(self, state: Any) -> dict[str, Any]:
        commands = list(state["admissible_commands"])
        return {"text": state.feedback, "commands": commands, "won": bool(state["won"])}


def translating_once(translate: Callable[[str, str], Any]) -> Callable[..., Any]:
    """Caches the translation. The engine translates a game four times, twice of them
    for planners that are never used here.
    """
    latest = functools.lru_cache(maxsize=1)(translate)
    return lambda domain, problem, **_: latest(domain, problem)


def wording_commands_once(
    derive: Callable[[str, Any], str],
) -> Callable[[str, Any], str]:
    """Caches the words of commands, which depend only on the action's arguments that
    the template names. Templates of answers ("#…#") depend on the game's state and are
    not cached.
    """
    worded: dict[tuple[str, ...], str] = {}

    def derived(template: str, context: Any) -> str:
        if template.startswith("#"):
            return derive(template, context)
        named = frozenset(re.findall(r"\w+", template))
        values = (
            value.name
            for slot, value in context["mapping"].items()
            if slot.name in named
        )
        key = (template, *values)
        if key not in worded:
            worded[key] = derive(template, context)
        return worded[key]

    return derived


def end_with(parent: int) -> None:
    """Ends this process, whatever it is doing, when its parent has ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the packages print must not mix with replies
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()

    def reply(answer: dict[str, Any]) -> None:
        replies.write(json.dumps(answer) + "\n")
        replies.flush()

    try:
        engine = Engine()
    except ModuleNotFoundError as error:
        reply({"missing": f"the package {error.name!r} is not installed; {INSTALL}"})
        return
    except ImportError as error:
        reply({"missing": str(error)})
        return
    reply({"ready": True})
    for line in sys.stdin:
        match json.loads(line):
            case {"load": texts}:
                reply(engine.load(texts))
            case {"step": command}:
                reply(engine.step(command))
            case {"facts": predicates}:
                reply(engine.facts(predicates))


if __name__ == "__main__":
    main()
