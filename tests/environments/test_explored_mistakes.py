"""Each mistake that an author of `world.yaml` can make is one clear sentence, and so is
each text that could be read in two ways.
"""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.runner.config import compose_cell

HOUSE = Path(__file__).parents[2] / "examples/house"
HERE = "here: (at ?r)\n"


def load(folder: Path) -> Any:
    words = ["environment=explored", f"environment.folder={folder}"]
    return compose_cell(words).build("environment")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return shutil.copytree(HOUSE, tmp_path / "house")


def refused(folder: Path, text: str) -> str:
    """Returns why a world with this `world.yaml` is not loaded."""
    (folder / "world.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"world\.yaml") as caught:
        load(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


MISTAKES = [
    # YAML
    ("", "at least a line such as here: (at ?r)"),
    ("- here", "at least a line such as here: (at ?r)"),
    (f"{HERE}say:\n  lit: {{l}} burns", "line 3: a phrase with { } needs quotes"),
    (f"{HERE}say: {{lit: {{l}} burns}}", "line 2: a phrase with { } needs quotes"),
    (f"{HERE}say: {{in: there is {{t}}}}", "line 2: a phrase with { } needs quotes"),
    (f"{HERE}say:\n  lit: {{l}}", "say.lit: a phrase with { } needs quotes"),
    (f"{HERE}say: {{lit: '{{l}} is lit\n", "close the quotes"),
    (f"{HERE}say: {{}}\nsay: {{}}", "duplicate key say"),
    ("here: [(at ?r)]", "a variable within [ ] or { } needs quotes"),
    (f"{HERE}located: [in, (in ?t ?r)]", "a variable within [ ] or { } needs quotes"),
    # keys
    (f"{HERE}sai: {{}}", "sai: there is no such key; did you mean say?"),
    ("say: {}", "here: Field required"),
    (f"{HERE}say: lit", "say: Input should be a valid dictionary"),
    (f"{HERE}known: room", "known: Input should be a valid list"),
    (f"{HERE}checked: {{walks: 0, dead_ends: 0}}", "checked.walks: Input should be gr"),
    (f"{HERE}checked: {{walks: 2}}", "checked.dead_ends: Field required"),
    # here
    ("here: at", "here: write it as (PREDICATE ?mover … ?place)"),
    ("here: (on ?r)", "here: there is no predicate on; there are at,"),
    ("here: (at ?r ?s)", "here: at has 1 parameter"),
    ("here: (at hall)", "here: hall is no variable; write ?x"),
    ("here: (in ?t - thin ?r)", "here: there is no type thin; there are lamp, room"),
    # names
    (f"{HERE}say: {{lat: '{{l}} burns'}}", "say.lat: there is no such predicate; did"),
    (f"{HERE}do: {{fly: fly}}", "do.fly: there is no such action. The actions are go,"),
    (f"{HERE}known: [rom]", "known.rom: there is no such type; did you mean room?"),
    (f"{HERE}located: [inn]", "located: there is no predicate inn"),
    (f"{HERE}located: [lit]", "located: lit has not two arguments"),
    (f"{HERE}explore: {{visit: go on}}", "explore.visit: there is no such mark"),
    # slots
    (f"{HERE}say: {{lit: burning}}", "say.lit: it leaves out l, which is no place"),
    (f"{HERE}say: {{lit: '{{x}} burns'}}", "say.lit: x is none of its parameters l"),
    (f"{HERE}do: {{go: 'go to {{x}}'}}", "do.go: x is none of its parameters from, to"),
    (f"{HERE}say: {{lit: '{{l}} and {{l}}'}}", "say.lit: l occurs twice"),
    (f"{HERE}say: {{beside: '{{from*}} by {{to*}}'}}", "say.beside: two slots have a"),
    (f"{HERE}do: {{go: 'go to {{to*}}'}}", "do.go: a command names one to; leave"),
    (f"{HERE}say: {{lit: '{{}} burns'}}", "say.lit: a slot is a parameter's name"),
    (f"{HERE}say: {{lit: '{{l burns'}}", "say.lit: a slot is a parameter's name"),
    (f"{HERE}say: {{lit: ''}}", "say.lit: the phrase is empty"),
    (f"{HERE}say: {{lit: '{{l}} burns. Ah'}}", "say.lit: a phrase is part of one sen"),
    (f"{HERE}say: {{lit: '{{l}} burns; it is lit'}}", "leave out full stops, semicolo"),
    (f"{HERE}aim: {{in: 'there is {{t}}'}}", "aim.in: it leaves out r, and a goal"),
    (f"{HERE}aim: {{lit: '{{l*}} burn'}}", "aim.lit: a goal has no lists"),
    (f"{HERE}aim: {{lit: burning}}", "aim.lit: it leaves out l"),
    # see and hide
    (f"{HERE}see: {{lat: always}}", "see.lat: there is no such predicate"),
    (f"{HERE}see: {{lit: ''}}", "see.lit: '' is no condition"),
    (f"{HERE}see: {{lit: '(lat ?here)'}}", "see.lit: "),
    (f"{HERE}hide: {{lat: {{l: x}}}}", "hide.lat: there is no such predicate"),
    (f"{HERE}hide: {{lit: {{x: x}}}}", "hide.lit: x is none of its parameters l"),
    (f"{HERE}hide: {{lit: {{l: '{{l}}'}}}}", "{l} is none of its "),
    (f"{HERE}hide: {{in: {{t: '9{{r}}'}}}}", "makes no PDDL name"),
    # aim
    (f"{HERE}aim: {{lid: '{{l}} burns'}}", "aim.lid: there is no such predicate"),
]
AMBIGUOUS = [
    # two predicates with one phrase
    (
        f"{HERE}say: {{held: there is {{t}}, in: there is {{t}}}}".replace(
            "there is {t}", "'there is {t}'"
        ),
        "could be read as (in thing1 some_place) or as (held thing1)",
    ),
    # two words of which one predicate's phrase is the other's
    (
        f"{HERE}say: {{lit: '{{l}} is held'}}",
        "could be read as (lit thing1) or as (held thing1)",
    ),
    # a name that has taken up words of another phrase
    (
        f"{HERE}say: {{in: 'in {{r}} is {{t}}', held: 'in {{t}}'}}",
        "could be read as (in thing1 thing2) or as (held thing_2_is_thing1)",
    ),
    # no comma between two names
    (
        f"{HERE}say: {{in: '{{t}} {{r}}'}}",
        "would be read as nothing, not as (in thing1 thing2); put a comma",
    ),
    (f"{HERE}do: {{take: 'take {{t}} {{r}}'}}", "do.take: 'take thing 1 thing 2'"),
    # a starred list that could be read otherwise
    (
        f"{HERE}say: {{in: '{{t*}} touch', beside: '{{from}} and {{to}} touch'}}",
        "could be read as (beside thing1 thing2) or as (in thing1 some_place) (in",
    ),
    (
        f"{HERE}say: {{in: 'there is {{t}}', held: 'there is {{t}} in your hand'}}",
        "could be read as (held thing1) or as (in thing_1_in_your_hand some_place)",
    ),
    # the answer to a command
    (
        f"{HERE}say: {{held: 'you take {{t}}'}}\ndo: {{take: 'take {{t}}'}}",
        "do.take: the game says 'You take thing 1.', which would be read as (held",
    ),
    (
        f"{HERE}do: {{go: 'are in {{to}}'}}",
        "which would be read as (at thing2) of say.at",
    ),
    (f"{HERE}do: {{go: 'cannot see {{to}}'}}", "as it does when it refuses a command"),
    (
        f"{HERE}say: {{lit: 'you cannot see {{l}}'}}",
        "the game itself begins texts with 'You cannot'",
    ),
    (
        f"{HERE}say: {{held: 'no longer: {{t}}'}}",
        "the game itself begins texts with 'No longer:'",
    ),
    (f"{HERE}do: {{go: 'look around'}}", "do.go: 'look around' is a command of every"),
    # the sentence about a type
    (
        f"{HERE}say: {{held: '{{t}} is a lamp'}}",
        "say.held: 'Thing 1 is a lamp.' could be read as (held thing1) or as the type",
    ),
    # two actions
    (
        f"{HERE}do: {{take: 'use {{t}}', light: 'use {{l}}'}}",
        "'use thing 1' could be read as take or as light",
    ),
    # the goal
    (
        f"{HERE}aim: {{held: '{{t}} is mine', lit: '{{l}} is mine'}}",
        "'thing 1 is mine' could be read as (lit thing1) or as (held thing1)",
    ),
    # the task
    (
        f"{HERE}task: Hurry. The torch is lit.",
        "task: the game says 'The torch is lit.', which would be read as (lit torch)",
    ),
    # what is not seen yet
    (
        f"{HERE}hide: {{beside: {{to: 'by_{{from}}'}}}}\ndo: {{go: 'go to {{to}}'}}",
        "do.go: it names to, which `hide` says is not seen yet",
    ),
]


@pytest.mark.parametrize(("text", "message"), [*MISTAKES, *AMBIGUOUS])
def test_a_mistake_of_an_author_is_one_sentence(
    text: str, message: str, house: Path
) -> None:
    assert message in refused(house, text)


def test_a_name_that_a_phrase_would_misread_is_refused(house: Path) -> None:
    problem = house / "p1.pddl"
    text = problem.read_text(encoding="utf-8")
    (house / "world.yaml").write_text(
        f"{HERE}say: {{beside: 'a door leads from {{from}} to {{to*}}'}}",
        encoding="utf-8",
    )
    load(house).reset(0)
    for name in ("stairs_to_heaven", "stairs_and_landing", "attic_to_3b"):
        renamed = re.sub(r"\bhall\b", name, text)
        problem.write_text(renamed, encoding="utf-8")
        with pytest.raises(ConfigError, match=f"the name {name} would be misread"):
            load(house).reset(0)


@pytest.mark.parametrize(
    "say",
    [
        "in: 'there is {t}', held: 'you have {t}'",
        "in: '{t} is in {r}', held: '{t} is in your hand'",
        "beside: '{from*} and {to} touch'",
        "beside: 'from {to*}, {from}'",
    ],
)
def test_phrases_that_share_words_are_no_mistake(say: str, house: Path) -> None:
    """The names of what a game tells have an article or a number."""
    (house / "world.yaml").write_text(f"{HERE}say: {{{say}}}", encoding="utf-8")
    assert load(house).reset(0).text
