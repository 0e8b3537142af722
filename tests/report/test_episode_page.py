"""The page of an episode: what was believed and what was true, one step at a time."""

import dataclasses
import json
import re
import shutil
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.cli import run
from pddlego_local.core.formats import to_json
from pddlego_local.core.record.events import (
    ActionTaken,
    Call,
    End,
    Event,
    Plan,
    Start,
    State,
)
from pddlego_local.core.record.folder import read_events, transcripts
from pddlego_local.report.cells import find_cells
from pddlego_local.report.map.text import written
from pddlego_local.report.map.world import read_world
from pddlego_local.report.pages.episode import entries, steps_of
from pddlego_local.report.pages.maps import Reference, maps_of, moments_of
from pddlego_local.runner.config import compose_cell
from pddlego_local.runner.run import run_cell
from tests.pddlego import Pddlego
from tests.report.browser import measured, needs_chromium
from tests.report.test_pages import asked, planted, reported

SUFFIX = "episodes/*reference*/1-0.html"


def reference(identity: dict[str, Any] | None = None) -> Reference:
    target = "pddlego_local.environments.coin.game.Coin"
    return Reference(identity or {"environment": {"_target_": target, "rooms": 5}})


def of_the_reference(played: Path) -> tuple[Path, list[Event]]:
    (path,) = played.glob("*reference*/transcripts/1-0.jsonl")
    return path, read_events(path)


def test_a_perfect_player_believes_what_it_was_told_and_nothing_else(
    played: Path,
) -> None:
    seen = 0
    for path, events in transcripts(played):
        if "reference" not in str(path):
            continue
        for maps in maps_of(events, reference()):
            assert maps.differences and (maps.true or maps.instead) and maps.is_told
            assert not maps.differences.wrong and not maps.differences.missed
            seen += bool(maps.differences.unseen)
    assert seen


LIE = "(connected kitchen attic north)"


def page_of_a_lie(played: Path, tmp_path: Path, **changes: Any) -> str:
    """Returns the page of the perfect player with LIE in its first file. `changes` are
    other fields of the plan.
    """
    shutil.copytree(played, tmp_path / "runs")
    path, events = of_the_reference(tmp_path / "runs")
    return page_of(path, with_a_lie(events, **changes), tmp_path)


def with_a_lie(events: Sequence[Event], **changes: Any) -> list[Event]:
    number = next(n for n, event in enumerate(events) if isinstance(event, Plan))
    plan = events[number]
    assert isinstance(plan, Plan)
    problem = plan.problem.replace("(:init", f"(:init\n    {LIE}", 1)
    lying = dataclasses.replace(plan, problem=problem, **changes)
    return [*events[:number], lying, *events[number + 1 :]]


def page_of(path: Path, events: Sequence[Event], tmp_path: Path) -> str:
    """Writes a transcript, and returns the page that a report makes of it."""
    path.write_text("".join(to_json(e) + "\n" for e in events), encoding="utf-8")
    assert run(["report", str(tmp_path / "runs"), "--out", str(tmp_path / "out")]) == 0
    (page,) = (tmp_path / "out").glob(SUFFIX)
    return page.read_text(encoding="utf-8")


def test_a_wrong_line_is_found_and_named_on_the_page(
    played: Path, tmp_path: Path
) -> None:
    text = page_of_a_lie(played, tmp_path)
    assert 'The first line that is wrong: <a href="#step-1">Step 1</a>' in text
    assert re.search(rf'class="wrong-line">\s*{re.escape(LIE)}<', text)
    assert "✗ connected" in text or "✗ · attic" in text


def test_a_line_that_the_planner_refuses_stands_beside_the_outcome(
    played: Path, tmp_path: Path
) -> None:
    """No object is called attic."""
    text = page_of_a_lie(
        played, tmp_path, outcome="translate_error", plan=(), message="element 7"
    )
    refused, why = re.findall(
        r'<code class="bad-words">(.*?)</code> <span class="dim">(.*?)</span>', text
    )[0]
    assert refused == LIE and "attic" in why and "element" not in why


def test_an_old_record_says_that_the_truth_was_not_recorded(
    played: Path, tmp_path: Path
) -> None:
    shutil.copytree(played, tmp_path / "runs")
    path, events = of_the_reference(tmp_path / "runs")
    old = [event for event in events if not isinstance(event, State)]
    text = page_of(path, old, tmp_path)
    assert "The true state was not recorded." in text
    assert "<figcaption>True" not in text and "Believed: the problem file" in text


def test_an_old_record_is_compared_with_what_was_told(
    played: Path, tmp_path: Path
) -> None:
    events = with_a_lie(of_the_reference(played)[1])
    old = [event for event in events if not isinstance(event, State)]
    first = maps_of(old, reference())[0]
    assert first.true is None and first.differences
    assert {written(fact) for fact in first.differences.wrong} == {LIE}
    assert not first.differences.missed and not first.differences.unseen
    assert "✗" in first.believed
    shutil.copytree(played, tmp_path / "runs")
    text = page_of(of_the_reference(tmp_path / "runs")[0], old, tmp_path)
    assert "The first line that is in a file and was not told: " in text
    assert "<b>Believed and not told</b>" in text


def test_a_step_begins_with_the_newest_text_of_the_game(played: Path) -> None:
    _, events = of_the_reference(played)
    steps = steps_of(entries(events))
    assert len(steps) > 3
    for step in steps[1:-1]:
        first = next(n for n, e in enumerate(events) if e is step.entries[0].event)
        said = [e for e in events[:first] if isinstance(e, Start | ActionTaken)]
        assert step.newest and step.newest == said[-1].observation


def test_goals_that_are_asked_for_with_one_state_have_one_map(played: Path) -> None:
    """Two goals without a plan come before the one that has it."""
    _, events = of_the_reference(played)
    several: list[Event] = []
    for event in events:
        if isinstance(event, Plan):
            problem = event.problem.replace("(:goal", "(:goal (at nowhere)) (:x", 1)
            several += [dataclasses.replace(event, problem=problem, plan=())] * 2
        several.append(event)
    drawn = maps_of(several, reference())
    alone = maps_of(events, reference())
    assert [bool(maps.believed) for maps in drawn] == [False, False, True] * len(alone)
    assert {maps.instead for maps in drawn[:2]} == {"The map stands at the next file."}


def test_words_of_the_models_own_are_not_compared(played: Path) -> None:
    _, events = of_the_reference(played)
    domain = "(define (domain d) (:predicates (stands ?x) (way ?x ?y)))"
    problem = (
        "(define (problem p) (:domain d) (:objects a b) (:init (stands a) (way a b))"
        " (:goal (stands b)))"
    )
    own = [
        dataclasses.replace(event, domain=domain, problem=problem)
        if isinstance(event, Plan)
        else event
        for event in events
    ]
    first = maps_of(own, reference())[0]
    assert (
        first and first.differences is None and first.true and "way" in first.believed
    )


def test_no_code_that_a_record_names_is_run(played: Path) -> None:
    _, events = of_the_reference(played)
    hostile = {"environment": {"_target_": "os.system", "command": "exit 1"}}
    nested = {
        "environment": {
            "_target_": "pddlego_local.environments.coin.game.Coin",
            "budget": {"_target_": "os.system", "command": "exit 1"},
        }
    }
    for identity in (hostile, nested, {}, {"environment": {"_target_": 7}}):
        moments = moments_of(events, Reference(identity))
        assert moments and all(moment.told is None for moment in moments)


def test_true_states_are_at_most_a_tenth_of_a_record_of_a_model(played: Path) -> None:
    for path, events in transcripts(played):
        if "reference" in str(path):
            continue
        states = [e for e in events if isinstance(e, State)]
        everything = sum(len(to_json(event)) for event in events)
        assert states
        assert sum(len(to_json(event)) for event in states) * 10 <= everything


def hundred_steps(played: Path) -> list[Event]:
    """The perfect player's game as if it had taken a hundred steps, each with another
    file.
    """
    _, events = of_the_reference(played)
    start, *_ = (e for e in events if isinstance(e, Start))
    state, *_ = (e for e in events if isinstance(e, State))
    call, *_ = (e for e in events if isinstance(e, Call))
    plan, *_ = (e for e in events if isinstance(e, Plan))
    end, *_ = (e for e in events if isinstance(e, End))
    taken, *_ = (e for e in events if isinstance(e, ActionTaken))
    rooms = " ".join(f"(connected kitchen r{n} north)" for n in range(12))
    many: list[Event] = [start, state]
    for number in range(1, 101):
        where = dataclasses.replace(call.where, step=number)
        init = f"(:init {rooms} (connected r1 r{number % 7 + 2} east)"
        problem = plan.problem.replace("(:init", init, 1)
        many += [
            dataclasses.replace(call, where=where),
            dataclasses.replace(plan, where=where, problem=problem),
            taken,
        ]
    return [*many, end]


def test_an_episode_of_a_hundred_steps_is_a_page_of_two_megabytes_at_most(
    played: Path, tmp_path: Path
) -> None:
    shutil.copytree(played, tmp_path / "runs")
    path, _ = of_the_reference(tmp_path / "runs")
    lines = "".join(to_json(event) + "\n" for event in hundred_steps(played))
    path.write_text(lines, encoding="utf-8")
    run(["report", str(tmp_path / "runs"), "--out", str(tmp_path / "out")])
    (page,) = (tmp_path / "out").glob(SUFFIX)
    assert page.read_text(encoding="utf-8").count("<svg") == 200
    assert page.stat().st_size <= 2_000_000


def test_show_prints_the_map_of_each_file_that_differs(
    played: Path, pddlego: Pddlego
) -> None:
    path, events = of_the_reference(played)
    shown = pddlego("show", path.parent.parent, "1").out
    worlds = [
        read_world(event.domain, event.problem)
        for event in events
        if isinstance(event, Plan)
    ]
    assert shown.count("● ") == len(worlds) and "goal: " in shown


@needs_chromium
def test_the_arrow_keys_and_the_slider_step_through_an_episode(written: Path) -> None:
    (page,) = written.glob(SUFFIX)
    script = """
        const told = [];
        const open = () => [...shown.querySelectorAll('section.step')].filter(
          (step) => !step.hidden).map((step) => step.id).join();
        const press = (key) => shown.dispatchEvent(
          new KeyboardEvent('keydown', {key, bubbles: true}));
        told.push(open());
        press('ArrowRight'); told.push(open());
        press('ArrowLeft'); press('ArrowLeft'); press('ArrowLeft'); told.push(open());
        const slider = shown.querySelector('#stepper input');
        slider.value = slider.max;
        slider.dispatchEvent(new Event('input')); told.push(open());
        shown.getElementById('all').click(); told.push(open().split(',').length);
        return JSON.stringify(told)"""
    first, second, zero, last, every = json.loads(measured(page, 1280, script))
    assert [first, second, zero, last] == ["step-1", "step-2", "reset", "end"]
    assert every == page.read_text(encoding="utf-8").count('<section class="step"')


@needs_chromium
def test_another_arm_stands_beside_at_the_same_step(
    played: Path, tmp_path: Path
) -> None:
    for rung in ("free", "typed"):
        planted(tmp_path / "runs" / rung, rung, [asked("success", 1)], played)
    page = reported(tmp_path) / "episodes" / "free" / "1-0.html"
    script = """
        shown.querySelector('a.other + button').click();
        const frame = shown.querySelector('iframe');
        const first = frame.src.split('/').slice(-2).join('/');
        shown.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'}));
        const second = frame.src.split('/').slice(-2).join('/');
        shown.querySelector('a.other + button').click();
        return [first, second, shown.querySelector('iframe')].join(' ')"""
    found = measured(page, 1280, script)
    assert found.split() == ["typed/1-0.html#step-1", "typed/1-0.html#reset"]


@needs_chromium
def test_the_maps_of_two_arms_beside_each_other_have_one_scale(
    played: Path, tmp_path: Path
) -> None:
    """The maps of the one are wide, since it believes in a row of rooms."""
    for rung in ("free", "typed"):
        planted(tmp_path / "runs" / rung, rung, [asked("success", 1)], played)
    rooms = [f"a_room_of_a_long_name_{number}" for number in range(9)]
    row = " ".join(f"(connected {a} {b} east)" for a, b in pairwise(rooms))
    wide = [
        dataclasses.replace(e, problem=e.problem.replace("(:init", f"(:init {row}", 1))
        if isinstance(e, Plan)
        else e
        for e in of_the_reference(played)[1]
    ]
    path = tmp_path / "runs" / "typed" / "transcripts" / "1-0.jsonl"
    path.write_text("".join(to_json(e) + "\n" for e in wide), encoding="utf-8")
    page = reported(tmp_path) / "episodes" / "free" / "1-0.html"
    script = """
        shown.querySelector('a.other + button').click();
        await new Promise((done) => setTimeout(done, 2000));
        const beside = shown.querySelector('iframe').contentDocument;
        const scales = [shown, beside].map((page) => {
          const map = [...page.querySelectorAll('.map')].find((map) => map.clientWidth);
          return map.getBoundingClientRect().width / map.width.baseVal.value });
        return JSON.stringify(scales)"""
    here, there = json.loads(measured(page, 1280, script))
    assert abs(here - there) < 0.01 and here < 0.7


@needs_chromium
def test_maps_fit_a_phone(written: Path) -> None:
    (page,) = written.glob(SUFFIX)
    script = """
        shown.getElementById('all').click();
        return shown.documentElement.scrollWidth"""
    assert int(measured(page, 400, script)) <= 400


def test_maps_are_readable_in_the_dark() -> None:
    """Every colour that the maps name is defined for both themes."""
    folder = Path("pddlego_local/report/pages/templates")
    used = set(re.findall(r"var\((--\w+)\)", (folder / "map.css").read_text("utf-8")))
    common = (folder / "common.css").read_text("utf-8")
    light, dark = re.findall(r":root \{([^}]*)\}", common)
    for theme in (light, dark):
        assert used <= set(re.findall(r"(--\w+):", theme))


@pytest.mark.parametrize(
    "words",
    [
        ["environment=described", "method=formalizer", "games=1"],
        ["environment=explored", "environment.folder=examples/house", "games=0",
         "method=pddlego"],
        pytest.param(["environment=alfworld", "method=pddl_edit", "games=0"],
                     id="alfworld"),
    ],
)  # fmt: skip
def test_other_environments_tell_what_is_true_and_what_was_told(
    tmp_path: Path, words: list[str]
) -> None:
    cell = compose_cell([*words, "model=reference", f"run.out={tmp_path}"])
    (record,) = find_cells([run_cell(cell).folder])
    events, _ = record.events(record.rows[0])
    found = maps_of(events, Reference.of(record.run))
    assert any(maps.true for maps in found)
    for maps in found:
        assert maps.is_told and (maps.true or maps.instead) and maps.differences
        assert not maps.differences.wrong and not maps.differences.missed
