"""An answer while it is written: a session has a stage to write next, and receives its
text.

    session = constraint.begin()
    while session.goes_on:
        ... continue session.prefix with text in the language of session.stage.grammar
        ... session.accept(text)

Every rung has this interface. Free text is one stage without a grammar, and `syntax` is
one stage with a grammar. On the upper rungs, the grammar of each stage is made from the
text of the stages before it. `episode.drawing` draws the text of a session from a
model.
"""

import hashlib
import json
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from pddlego_local.core.errors import GrammarIgnored, ModelFault
from pddlego_local.core.nouns import Grammar, Prefix
from pddlego_local.decoding.grammars.lark_text import (
    all_parts,
    cut_character_verdict,
    decoder_prefix,
    decoder_verdict,
    with_any_space,
)
from pddlego_local.decoding.repetition import LoopWatch


@dataclass(frozen=True)
class Stage:
    """One part of an answer; without a grammar it is free text.

    The language of a grammar is prefix-free, so that the grammar determines where a
    text ends. Before the stage begins, `rollback_chars` characters are removed from the
    end of the answer so far. The stage's text begins with `forced_prefix`; its grammar
    describes the text after that. A stage with a `watch` can be stopped when the text
    repeats itself.
    """

    name: str
    grammar: Grammar | None
    rollback_chars: int = 0
    forced_prefix: str = ""
    watch: LoopWatch | None = None


Stages = Generator[Stage, str, None]
"""A generator that yields a stage and is then sent the stage's text, including
`forced_prefix`. If the stage was stopped early, its `watch` says how much of the text
is kept.
"""


@dataclass(frozen=True)
class Constraint:
    """The constraint of a rung on one form of answer. `begin` opens a session for each
    answer.

    `in_stages` says that the answer takes several requests, each of which continues the
    text of the one before. Otherwise there is one stage and one request.
    """

    name: str
    stages: Callable[[], Stages]
    in_stages: bool = True

    def begin(self, *, thinks: bool = False) -> "AnswerSession":
        """Starts a new answer. `thinks` says that an unconstrained thought comes before
        it.
        """
        return AnswerSession(self, thinks=thinks)

    @property
    def free(self) -> bool:
        """Whether there is no grammar at all."""
        return self.first_grammar is None

    @property
    def first_grammar(self) -> Grammar | None:
        """The grammar of the first stage, which does not depend on any text."""
        return next(self.stages()).grammar

    @property
    def sha256(self) -> str | None:
        """The hash of the grammar; None for free text. For an answer in stages, it is
        the hash of all grammar files; the transcript has the hash of each stage's own
        grammar.
        """
        if self.in_stages and not self.free:
            return hashlib.sha256("\0".join(all_parts()).encode()).hexdigest()
        grammar = self.first_grammar
        return grammar.sha256 if grammar else None


def at_once(grammar: Grammar | None) -> Constraint:
    """Returns the constraint for an answer of one stage and one request."""

    def stages() -> Stages:
        yield Stage("answer", grammar)

    return Constraint(grammar.name if grammar else "free", stages, in_stages=False)


class AnswerSession:
    """One answer while it is written: `stage` is to be written next, while `goes_on` is
    true.

    The session owns the text: it applies rollbacks and forced prefixes, and it checks
    that each finished stage is in its language.
    """

    def __init__(self, constraint: Constraint, *, thinks: bool = False) -> None:
        self._constraint = constraint
        self._stages = constraint.stages()
        stage = next(self._stages)
        # After a thought, forced text cannot be part of the prompt, so the grammar
        # contains it.
        self.stage = with_prefix_in_grammar(stage) if thinks else stage
        self._written_prefix = stage.forced_prefix if thinks else ""
        self.goes_on = True
        self._written = Prefix()

    @property
    def prefix(self) -> Prefix | None:
        """The text that the stage continues, with the rollback and the forced prefix of
        the stage, and a watch that says when to stop; None if the whole answer is one
        request.
        """
        if not self._constraint.in_stages:
            return None
        stage = self.stage
        watch = self.stage.watch
        begin = len(self._written_prefix)
        watched = watch and (lambda text: watch(text[begin:]))
        return replace(
            self._written,
            rollback_chars=stage.rollback_chars,
            forced_prefix=stage.forced_prefix,
            watch=watched,
        )

    @property
    def text(self) -> str:
        """The answer so far."""
        return self._written.text

    def accept(
        self, text: str, prefix: Prefix | None = None, *, ended: bool = True
    ) -> int:
        """Accepts the text of the stage, without its forced prefix.

        `prefix` is the answer including this text, as the model's backend returns it.
        `ended` is False if the stage was not written to its end. Then the session
        removes the repetition at the end of the text and goes on; if there is no
        repetition, the session is over.

        Returns the number of characters that are removed as a repetition. Raises
        GrammarIgnored for a text that is not even the beginning of one in the language,
        whether or not it was written to its end. Raises ModelFault for an ended text
        that is only a beginning: a decoder can end a text early without an error.
        """
        before = self.prefix or self._written
        self._written = prefix or Prefix(before.continued + text)
        _verify(self.stage, text, ended=ended)
        lost = 0
        if not ended:
            watch = self.stage.watch
            watched = text[len(self._written_prefix) :]
            if watch is None or not watch.breaks(watched):
                self.goes_on = False
                return 0
            lost = len(watched) - (watch.kept or 0)
        self._written_prefix = ""
        try:
            self.stage = self._stages.send(self.stage.forced_prefix + text)
        except StopIteration:
            self.goes_on = False
        return lost


def _verify(stage: Stage, text: str, *, ended: bool) -> None:
    """Raises if the text of a stage is outside its language, or if it ended as a mere
    beginning: if llguidance fails, it permits only the end of the text, and a server
    does not report that.
    """
    name = stage.grammar.name if stage.grammar else ""
    grammar = with_any_space(stage.grammar)
    verdict = decoder_verdict(grammar, text)
    if verdict == "rejected" and not ended:
        verdict = cut_character_verdict(grammar, text)
    if verdict == "rejected":
        raise GrammarIgnored(
            f"The stage {stage.name!r} of an answer is outside the grammar {name!r}:"
            " the model's backend does not obey grammars; start the server with the"
            " guidance backend, or choose decoding=free."
        )
    if verdict == "unfinished" and ended:
        raise ModelFault(
            f"The decoder ended the stage {stage.name!r} of an answer after {len(text)}"
            f" characters, before the grammar {name!r} was satisfied; the request can"
            " be repeated."
        )


def with_prefix_in_grammar(stage: Stage) -> Stage:
    """Returns the stage without a forced prefix; its grammar begins with that text
    instead.
    """
    if not stage.forced_prefix or stage.grammar is None:
        return stage
    start = re.compile(r"^start\s*:", re.MULTILINE)
    head = json.dumps(stage.forced_prefix, ensure_ascii=False)
    rest = stage.grammar.text
    behind_head = start.sub("_behind_head:", rest, count=1)
    text = f"start: {head} _behind_head\n{behind_head}"
    grammar = replace(stage.grammar, text=text)
    return replace(stage, grammar=grammar, forced_prefix="")


def place_of_departure(constraint: Constraint, text: str) -> str:
    """Returns where a complete answer leaves the language of a rung, in words; "" if it
    can be written without a rollback.
    """
    data = text.encode("utf-8", "surrogatepass")
    at = 0
    stages = constraint.stages()
    stage = next(stages)
    while True:
        if stage.rollback_chars and stage.name == "goal":
            return "goal: it is already true"
        if stage.rollback_chars:
            return (
                f"{stage.name}: an entry contradicts an earlier one, or something"
                " needed is missing"
            )
        grammar = with_prefix_in_grammar(stage).grammar
        length, is_whole = decoder_prefix(grammar, data[at:])
        end = at + length
        if not is_whole:
            last = data[max(at, end - 40) : end].decode(errors="replace")
            following = data[end : end + 40].decode(errors="replace")
            return f"{stage.name}: after {last!r} comes {following!r}"
        written = data[at:end].decode(errors="replace")
        try:
            stage = stages.send(written)
        except StopIteration:
            is_all = end == len(data)
            return "" if is_all else "the answer goes on after its end"
        at = end
