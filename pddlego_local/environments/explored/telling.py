"""What a partly seen world tells: facts as sentences, and sentences as facts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pddlego_local.environments.explored.phrases import (
    Phrase,
    a_kind,
    grouped_facts,
    sentence,
    spelled,
    unspelled,
    with_article,
)
from pddlego_local.environments.explored.world import World
from pddlego_local.pddl.conditions import Fact
from pddlego_local.pddl.reader import read


class Telling:
    """The sentences of one world.

    A phrase of the author may leave out one argument, which is then the player's place.
    A fact about another place is said with the default phrase, which names everything.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._parameters = world.parameters
        self.defaults: Mapping[str, Phrase] = {
            name: Phrase(self._default(name), parameters)
            for name, parameters in self._parameters.items()
        }
        self.phrases: Mapping[str, Phrase] = {
            name: Phrase(world.file.say.get(name, self.defaults[name].text), parameters)
            for name, parameters in self._parameters.items()
        }
        self.aims: Mapping[str, Phrase] = {
            name: Phrase(world.file.aim.get(name, self.defaults[name].text), parameters)
            for name, parameters in self._parameters.items()
        }

    def _default(self, name: str) -> str:
        """Returns the phrase of a predicate for which the author gives none."""
        words = spelled(name)
        slots = [f"{{{parameter}}}" for parameter in self._parameters[name]]
        if name == self._world.here.predicate:
            *movers, place = slots
            if movers:
                return f"{' and '.join(movers)} is at {place}"
            return f"you are in {place}"
        if not slots:
            return words
        first, *others = slots
        if not others:
            return f"{first} is {words}"
        return f"{first} {words} {', '.join(others)}"

    def said(self, facts: Iterable[Fact], place: str | None) -> list[str]:
        """Returns sentences for facts; see `clauses`."""
        return [*map(sentence, self.clauses(facts, place))]

    def clauses(self, facts: Iterable[Fact], place: str | None) -> list[str]:
        """Returns parts of sentences for facts: first where the player is, then the
        others in the order of the domain's predicates. `place` is the player's place,
        None if there are several.
        """
        by_predicate: dict[str, list[Fact]] = {}
        for fact in sorted(facts):
            by_predicate.setdefault(fact[0], []).append(fact)
        order = [self._world.here.predicate, *self._world.predicates]
        clauses: list[str] = []
        for name in dict.fromkeys(order):
            of_predicate = by_predicate.get(name, [])
            clauses += self._clauses_of(name, of_predicate, place)
        return clauses

    def why_not(self, fact: Fact, place: str | None, *, is_true: bool) -> str:
        """Returns what prevents an action: a fact that is true, or one that is not."""
        if fact[0] == "=":
            clause = f"{with_article(fact[1])} is the same as {with_article(fact[2])}"
        else:
            (clause,) = self.clauses([fact], place)
        return clause if is_true else f"it is not so that {clause}"

    def _clauses_of(
        self, name: str, facts: Sequence[Fact], place: str | None
    ) -> Iterator[str]:
        phrase = self.phrases[name]
        unsaid = phrase.unsaid
        here, elsewhere = list[Fact](), list[Fact]()
        for fact in facts:
            things = dict(zip(phrase.parameters, fact[1:], strict=True))
            is_here = all(things[parameter] == place for parameter in unsaid)
            (here if is_here else elsewhere).append(fact)
        for chosen, those in ((phrase, here), (self.defaults[name], elsewhere)):
            for things_said in grouped_facts(those, chosen):
                yield chosen.said(things_said)

    def used(self, name: str) -> Sequence[Phrase]:
        """Returns the phrases with which texts say the facts of a predicate."""
        phrase, default = self.phrases[name], self.defaults[name]
        is_enough = phrase.text == default.text or not phrase.unsaid
        return (phrase,) if is_enough else (phrase, default)

    def read(self, text: str, place: str | None) -> Sequence[Fact]:
        """Returns the facts that a sentence says; none if it is of no phrase.

        `place` is the player's place at that moment.
        """
        return next(iter(self.readings(text, place)), ())

    def readings(self, text: str, place: str | None) -> list[Sequence[Fact]]:
        """Returns the different readings of a sentence. A sentence of a game has at
        most one (ambiguity.py).
        """
        stripped = text.strip().removesuffix(".")
        found = dict[Sequence[Fact], None]()
        for name in self.phrases:
            for candidate in self.used(name):
                read = candidate.read(stripped, told=True)
                if read is not None:
                    found[tuple(_facts_of(name, candidate, read, place))] = None
        return [*found]

    def read_kind(self, text: str) -> tuple[str, str] | None:
        """Returns the object and the type of a sentence that `kind` has made."""
        subject, is_a, kind = text.removesuffix(".").partition(" is a")
        article, _, rest = kind.partition(" ")
        name = unspelled(rest)
        if is_a and article in ("", "n") and name in self._world.type_names:
            return unspelled(subject), name
        return None

    def aim_readings(self, text: str) -> list[Sequence[Fact]]:
        """Returns the different readings of a part of a goal in words."""
        found = dict[Sequence[Fact], None]()
        for name, phrase in self.aims.items():
            read = phrase.read(text, told=True)
            if read is not None:
                found[tuple(_facts_of(name, phrase, read, None))] = None
        return [*found]

    def goal(self, goal: str) -> str:
        """Returns a goal in words: its facts, or PDDL if it is no list of facts."""
        block = read(goal)
        if block is None:
            return goal
        parts = block.blocks if block.head == "and" else [block]
        said = []
        for part in parts:
            fact = tuple(word.name for word in part.words)
            if part.blocks or not fact or fact[0] not in self.defaults:
                return goal
            phrase = self.aims[fact[0]]
            things = dict(zip(phrase.parameters, fact[1:], strict=True))
            said.append(phrase.said(things))
        return "; ".join(said)

    def read_goal(self, text: str) -> str:
        """Returns the PDDL of a goal that `goal` has put into words."""
        if text.startswith("("):
            return text
        readings = [self.aim_readings(part)[:1] for part in text.split("; ")]
        atoms = [f"({' '.join(fact)})" for (facts,) in readings for fact in facts]
        return f"(and {' '.join(atoms)})"

    def kind(self, name: str, kind: str) -> str:
        """Returns the sentence that tells an object's type."""
        return sentence(f"{with_article(name)} is {a_kind(kind)}")


def _facts_of(
    name: str, phrase: Phrase, read: Mapping[str, list[str]], place: str | None
) -> Iterator[Fact]:
    """Yields a fact for each name in the starred slot, or the only one."""
    star = phrase.starred
    for value in read[star] if star else [""]:
        terms = []
        for parameter in phrase.parameters:
            if parameter == star:
                terms.append(value)
            elif parameter in read:
                terms.append(read[parameter][0])
            else:
                terms.append(place or "")
        yield (name, *terms)
