"""A model that goes round in circles: when it is noticed, what is kept, how the answer
goes on.
"""

import json

import pytest

from pddlego_local.core.errors import ConfigError
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.forms import PROBLEM as PROBLEM_FORM
from pddlego_local.decoding.grammars.lark_text import decoder_verdict
from pddlego_local.decoding.ladder import constraint_for
from pddlego_local.decoding.layout import Layout
from pddlego_local.decoding.repetition import LoopWatch
from pddlego_local.decoding.settings import Decoding, Reject
from pddlego_local.runner.config import compose_cell
from tests.tables import table

CASES = table(__file__)

EDIT = '{"objects": {"add": ['
PROBLEM = '{"df": "…", "pf": "(define (problem p) (:domain d) '
DOMAIN = '{"df": "(define (domain d) (:requirements :strips) '

CIRCLES = CASES["circles"]


@pytest.mark.parametrize(("before", "text", "kept"), CIRCLES)
def test_a_circle_is_noticed_as_soon_as_it_is_one(
    before: str, text: str, kept: str
) -> None:
    watch = LoopWatch(before)
    assert [number for number in range(1, len(text) + 1) if watch(text[:number])] == [
        len(text)
    ]
    assert watch.breaks(text)
    assert text[: watch.kept] == kept
    assert watch.breaks(
        text + ' (more, of) "whatever'
    )  # the same, however late it is asked
    assert text[: watch.kept] == kept


@pytest.mark.parametrize(
    ("before", "text"),
    CASES["what_is_said_of_several_things_is_no_circle"],
)
def test_what_is_said_of_several_things_is_no_circle(before: str, text: str) -> None:
    watch = LoopWatch(before)
    assert not any(watch(text[:number]) for number in range(1, len(text) + 1))
    assert not watch.breaks(text)


@pytest.mark.parametrize(
    ("before", "text", "kept"),
    CASES["a_limit_among_repeats_costs_the_repeats_alone"],
)
def test_a_limit_among_repeats_costs_the_repeats_alone(
    before: str, text: str, kept: str | None
) -> None:
    watch = LoopWatch(before)
    assert watch.breaks(text) == (kept is not None)
    assert (None if watch.kept is None else text[: watch.kept]) == kept


def test_a_request_that_is_sent_again_is_watched_from_its_beginning() -> None:
    watch = LoopWatch(EDIT)
    assert watch('"a - room", "a - room", "a - room"')
    assert not watch('"a - room"')
    assert not watch('"a - room", "a - room"')
    assert watch('"a - room", "a - room", "a - room"')


def test_names_are_watched_where_the_model_makes_them_up() -> None:
    assert not LoopWatch(EDIT, names=False)('"none-of-none-of-none-of-')


LOOP = "(define (problem p) (:domain d) (:objects hall - room hall - room hall - room"
CLOSED = "(define (problem p) (:domain d) (:objects hall - room)"
REST = " (:init (at hall)) (:goal (at hall)))"


def written(decoding: Decoding, *pieces: str) -> tuple[str, list[str], bool]:
    """The text of an answer, the names of its stages, and whether it goes on. Each
    piece is written to its end, or until the stage is stopped.
    """
    session = constraint_for(decoding, PROBLEM_FORM).begin()
    names = []
    for piece in pieces:
        names.append(session.stage.name)
        watch = session.prefix.watch if session.prefix else None
        stopped = next(
            (n for n in range(1, len(piece) + 1) if watch and watch(piece[:n])), 0
        )
        session.accept(piece[:stopped] if stopped else piece, ended=not stopped)
    return session.text, names, session.goes_on


def test_a_free_answer_is_stopped_where_it_asks_for_it() -> None:
    prose = "1) The problem, and the the the the the answer: "
    answer = f"{prose}{LOOP} hall - room hall"
    for stop_loops in ("auto", False):
        text, names, _ = written(Decoding(rung="free", stop_loops=stop_loops), answer)
        assert (text, names) == (answer, ["answer"])
    decoding = Decoding(rung="free", stop_loops=True)
    text, names, goes_on = written(decoding, answer, REST)
    assert (names, goes_on) == (["answer", "rest"], False)
    assert text == prose + CLOSED + REST
    # More than one list, and a list of JSON strings.
    edit = '{"init": {"add": ["(at a)", "(at b)", "(at a)", "(at b)", "(at a)"'
    again = ', "delete": ["(x)", "(x)", "(x)"'
    text, names, _ = written(decoding, edit, again, "}}")
    assert text == '{"init": {"add": ["(at a)", "(at b)"], "delete": ["(x)"]}}'


@pytest.mark.parametrize("layout", ["any", "line"])
def test_in_strings_of_json_the_rest_is_json(layout: Layout) -> None:
    decoding = Decoding(rung="json", stop_loops=True, layout=layout)
    problem = f'{{"pf": "{LOOP}'
    text, names, goes_on = written(decoding, problem, f'{REST}"}}')
    assert (names, goes_on) == (["answer", "rest"], False)
    assert json.loads(text) == {"pf": CLOSED + REST}
    session = constraint_for(decoding, PDDL).begin()
    session.accept('{"df": "(define (domain d) (:types a a a', ended=False)
    grammar = session.stage.grammar
    assert grammar
    for rest, right in (
        ('\\n)", "pf": "(define \\"x\\" )"}', True),
        (')"}', False),
        (')", "df": ""}', False),
        (')", "pf": "\n"}', False),
    ):
        assert (decoder_verdict(grammar, rest) == "accepted") == right, rest
    if layout == "line":
        assert decoder_verdict(grammar, ')",  "pf": ""}') == "rejected"


def test_a_rung_need_not_be_stopped() -> None:
    for stop_loops, is_watched in (("auto", True), (True, True), (False, False)):
        decoding = Decoding(rung="typed", stop_loops=stop_loops)  # type: ignore[arg-type]
        stage = next(constraint_for(decoding, PROBLEM_FORM).stages())
        assert (stage.watch is not None) == is_watched


def test_what_cannot_be_stopped_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"decoding\.stop_loops=True needs"):
        Decoding(rung="syntax", stop_loops=True)
    with pytest.raises(ConfigError, match="draws whole free answers"):
        Decoding(rung="free", stop_loops=True, reject=Reject(rung="typed", tries=2))


def test_a_cell_that_stops_as_before_has_the_name_that_it_had() -> None:
    before = compose_cell(["decoding=free"])
    assert "stop_loops" not in before.identity["decoding"]
    after = compose_cell(["decoding=free", "decoding.stop_loops=true"])
    assert after.identity["decoding"]["stop_loops"] is True
