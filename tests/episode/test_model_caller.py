"""Several samples and explained refusals: in a real game, with a real planner and
answers that are given in advance.
"""

import contextlib
import json
from typing import Any

import pytest

from pddlego_local.core.nouns import Completion
from pddlego_local.core.record.events import Call, Chosen, Plan
from pddlego_local.core.record.summary import summarize
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.question import Model
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.coin import reference as coin_reference
from pddlego_local.environments.coin.game import Coin
from pddlego_local.episode.episode import Episode, Parts
from pddlego_local.episode.planning import Formalization
from pddlego_local.episode.shown import Shown
from pddlego_local.methods.pddl_edit import PddlEdit
from pddlego_local.models.reference import ReferenceFormalizer
from pddlego_local.models.scripted import Scripted
from pddlego_local.planner import FastDownward
from tests.methods.playing import Events, of, play

OTHER = json.dumps(
    {"df": "(define (domain d) (:types a))", "pf": "(define (problem p) (:init))"}
)


class Asked:
    """One question at the first look of a game."""

    def __init__(self, model: Model, planner: FastDownward, **decoding: Any) -> None:
        self.events: Events = []
        self.shown = "Write the PDDL."
        parts = Parts(Coin(), model, planner, Decoding(**{"rung": "free", **decoding}))
        self.episode = Episode(parts, self.events.append, run_seed=0, game=1, trial=0)
        self.episode.start()

    def formalize(self) -> Formalization:
        with contextlib.closing(self.episode.environment):
            question = self.episode.question(PDDL, Shown(self.shown))
            return self.episode.formalize(question, step=1)


def pair(old: str = "", new: str = "") -> str:
    """A perfect answer to the first look, with one piece of text replaced."""
    game = Asked(Scripted([]), FastDownward())
    domain, problem = coin_reference.formalize(game.episode.memory)
    assert old in domain + problem
    return json.dumps({"df": domain.replace(old, new), "pf": problem.replace(old, new)})


def test_the_first_sample_that_is_solved_is_taken_and_all_are_recorded(
    planner: FastDownward,
) -> None:
    faulty = pair("(:types location direction)", "(:types location)")
    answers = ["no PDDL at all", faulty, pair(), pair()]
    asked = Asked(Scripted(answers), planner, best_of=4)
    assert asked.formalize().plan
    calls = of(asked.events, Call)
    assert [call.text for call in calls] == answers
    assert [call.where.sample for call in calls] == [0, 1, 2, 3]
    assert {call.of for call in calls} == {4}
    failed, solved = of(asked.events, Plan)
    assert (failed.outcome, failed.where.sample) == ("translate_error", 1)
    assert (solved.outcome, solved.where.sample) == ("solved", 2)
    (chosen,) = of(asked.events, Chosen)
    assert chosen.where == solved.where
    assert summarize(asked.events).causes == {"solved": 1}


def test_what_the_limit_cuts_after_a_whole_answer_is_no_fault_and_is_counted(
    planner: FastDownward,
) -> None:
    """A grammar ends at the brace; a free answer may go on until the limit."""
    going_on = Completion(pair() + "\nThis domain has", "length", 9, 9, 0.0)
    cut = Completion(pair()[:-40], "length", 9, 9, 0.0)
    for completion, cause, counted in (going_on, "solved", 1), (cut, "truncated", 0):
        asked = Asked(Scripted([completion]), planner)
        assert asked.formalize().cause == cause
        counts = summarize(asked.events)
        assert (counts.causes, counts.cut_after_answer) == ({cause: 1}, counted)
    strictly = Asked(Scripted([going_on]), planner, reading="strict")
    assert strictly.formalize().cause == "truncated"
    assert summarize(strictly.events).cut_after_answer == 0


def test_what_the_prompt_shows_is_passed_over_for_what_was_answered(
    planner: FastDownward,
) -> None:
    asked = Asked(Scripted([f"{pair()}, as in {OTHER}"]), planner)
    asked.shown = f"Write the PDDL, as in {OTHER}"
    assert asked.formalize().plan


def test_perfect_candidates_make_no_solver_errors(planner: FastDownward) -> None:
    decoding = Decoding(rung="free", best_of=3)
    method, game = PddlEdit(), Coin(rooms=5)
    outcome, events = play(
        method, game, ReferenceFormalizer(), planner, decoding=decoding
    )
    assert outcome == "success"
    counts = summarize(events)
    answers = of(events, Call)
    assert (counts.solver_errors, counts.causes) == (0, {"solved": counts.calls})
    assert len(answers) == 3 * counts.calls == 3 * counts.steps
    assert {plan.where.sample for plan in of(events, Plan)} == {0}


def test_where_no_sample_is_solved_the_first_is_told_of(planner: FastDownward) -> None:
    asked = Asked(
        Scripted(["nothing", pair("(at ?loc1)", "(be ?loc1)")]), planner, best_of=2
    )
    assert asked.formalize().cause == "no_json"


@pytest.mark.parametrize("feedback", ["planner", "explained"])
def test_what_is_told_of_a_refusal_is_a_setting(
    planner: FastDownward, feedback: str
) -> None:
    asked = Asked(
        Scripted([pair("(at ?loc1)", "(be ?loc1)")]), planner, feedback=feedback
    )
    found = asked.formalize()
    (plan,) = of(asked.events, Plan)
    assert found.cause == "translate_error"
    assert found.message == plan.told
    assert ("domain line" in found.message) is (feedback == "explained")
    assert "domain line" not in plan.message


class Marked(Scripted):
    """A model that knows what stands around its thoughts."""

    thought_markers = "@@", "!!"


def test_a_thought_is_known_by_the_markers_of_its_model(planner: FastDownward) -> None:
    completion = Completion(f"@@{pair()} is a draft", "length", 1, 1, 0.0)
    for kind, fault in (Marked, "unfinished_thought"), (Scripted, ""):
        game = Asked(kind([completion]), planner)
        game.formalize()
        (call,) = of(game.events, Call)
        assert call.fault == fault
