"""An answer while it is written: a session yields stages, and is given what was written in them.

    session = constraint.begin()
    while session.goes_on:
        ... write session.stage.grammar's language behind session.prefix ...
        session.accept(text)

Every rung has this one shape. Free text is a stage without a grammar, `syntax` is a stage with one,
and on the upper rungs each stage's grammar is made from the text of the stages before it. How a
session is drawn from a model is decided elsewhere (`episode.drawing`).
"""

import hashlib
import json
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from pddlego_local.core.errors import GrammarIgnored, ModelFault
from pddlego_local.core.nouns import Grammar, Prefix
from pddlego_local.decoding.grammars.lark_text import all_parts, decoder_prefix, decoder_verdict
from pddlego_local.decoding.repetition import RepetitionWatch


@dataclass(frozen=True)
class Stage:
    """One part of an answer; without a grammar it is free text.

    A grammar's language is prefix-free, so that the grammar tells where a text ends. Before the
    stage begins, `rollback_chars` characters are removed from the end of the answer so far. The
    stage's text begins with `forced_prefix`; its grammar describes what follows that. A stage with
    a `watch` can be stopped when the text repeats itself.
    """

    name: str
    grammar: Grammar | None
    rollback_chars: int = 0
    forced_prefix: str = ""
    watch: RepetitionWatch | None = None


Stages = Generator[Stage, str, None]
"""Yields a stage, is sent the text that was written in it, its head included, and goes on. If the
stage was broken off, its `watch` says how much of the text stays."""


@dataclass(frozen=True)
class Constraint:
    """The constraint of a rung on one form of answer. `begin` opens a session for each answer.

    `in_stages` says that the answer takes several requests, each of which continues the one before;
    without it there is one stage and one request.
    """

    name: str
    stages: Callable[[], Stages]
    in_stages: bool = True

    def begin(self, *, thinks: bool = False) -> "AnswerSession":
        """A new answer. `thinks`: a free thought comes before it."""
        return AnswerSession(self, thinks=thinks)

    @property
    def free(self) -> bool:
        """Whether there is no grammar at all."""
        return not self.in_stages and self.first_grammar is None

    @property
    def first_grammar(self) -> Grammar | None:
        """The grammar of the first stage, which depends on no text."""
        return next(self.stages()).grammar

    @property
    def sha256(self) -> str | None:
        """The hash of the one grammar. That of an answer in stages covers the grammar files; each
        stage's own hash is in the transcript."""
        if self.in_stages:
            return hashlib.sha256("\0".join(all_parts()).encode()).hexdigest()
        grammar = self.first_grammar
        return grammar.sha256 if grammar else None


def at_once(grammar: Grammar | None) -> Constraint:
    """An answer of one stage and one request."""

    def stages() -> Stages:
        yield Stage("answer", grammar)

    return Constraint(grammar.name if grammar else "free", stages, in_stages=False)


class AnswerSession:
    """One answer: `stage` is to be written next, `goes_on` says that there is one.

    The session owns the text: what is rolled back, what is forced, and whether the finished answer
    is in the language.
    """

    def __init__(self, constraint: Constraint, *, thinks: bool = False) -> None:
        self._constraint, self._stages = constraint, constraint.stages()
        stage = next(self._stages)
        # Forced text after a thought cannot be part of the prompt: the grammar writes it.
        self.stage = with_prefix_in_grammar(stage) if thinks else stage
        self._written_prefix = stage.forced_prefix if thinks else ""
        self.goes_on = True
        self._written = Prefix()

    @property
    def prefix(self) -> Prefix | None:
        """The text that the stage continues, with the stage's own rollback and head, and a watch
        that tells whether it is to be broken off; None if the whole answer is one request."""
        if not self._constraint.in_stages:
            return None
        stage, watch, head = self.stage, self.stage.watch, len(self._written_prefix)
        watched = watch and (lambda text: watch(text[head:]))
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

    def accept(self, text: str, prefix: Prefix | None = None, *, ended: bool = True) -> int:
        """Takes what was written in the stage, without its head. `prefix` is the answer with it, as
        the model's backend gives it. `ended` is False if the stage was not written to its end: then
        the session goes on behind what came before a circle, and if there was none, no further.

        Returns how many characters of the stage fall away with a circle. Raises GrammarIgnored if a
        finished stage is outside its grammar, and ModelFault if it is only the beginning of a text:
        the decoder can end one early, in silence.
        """
        before = self.prefix or self._written
        self._written = prefix or Prefix(before.continued + text)
        lost, watch = 0, self.stage.watch
        if ended:
            _verify(self.stage, text)
        elif watch and watch.breaks(text[len(self._written_prefix) :]):
            lost = len(text) - len(self._written_prefix) - (watch.kept or 0)
        else:
            self.goes_on = False
            return 0
        self._written_prefix = ""
        try:
            self.stage = self._stages.send(self.stage.forced_prefix + text)
        except StopIteration:
            self.goes_on = False
        return lost


def _verify(stage: Stage, text: str) -> None:
    """Raises if a stage that has ended is outside its language: an engine that fails permits
    nothing but the end of the text, and does not say so."""
    name = stage.grammar.name if stage.grammar else ""
    match decoder_verdict(stage.grammar, text):
        case "unfinished":
            raise ModelFault(
                f"The decoder ended the stage {stage.name!r} of an answer after {len(text)} "
                f"characters, before the grammar {name!r} was satisfied; the request can be "
                "repeated."
            )
        case "rejected":
            raise GrammarIgnored(
                f"The stage {stage.name!r} of an answer is outside the grammar {name!r}: the "
                "model's backend does not obey grammars; start the server with the guidance "
                "backend, or choose decoding=free."
            )


def with_prefix_in_grammar(stage: Stage) -> Stage:
    """The same stage without a head: its grammar begins with that text."""
    if not stage.forced_prefix or stage.grammar is None:
        return stage
    start = re.compile(r"^start\s*:", re.MULTILINE)
    head, rest = json.dumps(stage.forced_prefix, ensure_ascii=False), stage.grammar.text
    text = f"start: {head} _behind_head\n{start.sub('_behind_head:', rest, count=1)}"
    return replace(stage, grammar=replace(stage.grammar, text=text), forced_prefix="")


def place_of_departure(constraint: Constraint, text: str) -> str:
    """Where a whole answer leaves a rung's language, in words; "" if it could have been written
    without a rollback."""
    data = text.encode("utf-8", "surrogatepass")
    at = 0
    stages = constraint.stages()
    stage = next(stages)
    while True:
        if stage.rollback_chars:
            goal = stage.name == "goal"
            wrong = "a name is declared twice, or something needed is missing"
            return f"{stage.name}: {'it is already true' if goal else wrong}"
        length, whole = decoder_prefix(with_prefix_in_grammar(stage).grammar, data[at:])
        if not whole:
            there = data[max(at, at + length - 40) : at + length].decode(errors="replace")
            next_ = data[at + length : at + length + 40].decode(errors="replace")
            return f"{stage.name}: after {there!r} comes {next_!r}"
        try:
            stage = stages.send(data[at : at + length].decode(errors="replace"))
        except StopIteration:
            return "" if at + length == len(data) else "the answer goes on after its end"
        at += length
