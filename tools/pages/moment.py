"""Draws the first picture of the README: one moment of one game, what the model
believed beside what was true, with the lines of its file that are wrong.

The record is older than the recording of true states, so the game is played again, with
the same commands.
"""

from collections.abc import Iterator, Sequence
from importlib import resources

from markupsafe import escape

from pddlego_local.core.record.events import ActionTaken, Event, Restart, Start
from pddlego_local.core.record.states import NOTHING, change
from pddlego_local.environments.coin.game import Coin
from pddlego_local.report import pages
from pddlego_local.report.map.drawing import Album
from pddlego_local.report.map.svg import CHARACTER
from pddlego_local.report.map.text import written
from pddlego_local.report.map.truth import true_world
from pddlego_local.report.pages.maps import Moment, Reference, marks_of, moments_of
from tools.pages.records import Records

ARCHIVE, SWEEP = "sample/records.tar.xz", "sample"
CELL = "coin-pddlego_plus-nano_early-free"
GAME, PLAN, ROOMS = 31, 1, 5
TOP, MARGIN, LINE = 32, 14, 17  # pixels


def draw(records: Records) -> bytes:
    (cell,) = (
        cell
        for cell in records.sweep(ARCHIVE, SWEEP)
        if cell.folder.name.startswith(CELL)
    )
    (row,) = (row for row in cell.rows if row.game == GAME)
    events, _ = cell.events(row)
    reference = Reference.of(cell.run)
    moments = moments_of([*with_states(events, Coin(rooms=ROOMS))], reference)
    return picture(moments[PLAN]).encode()


def with_states(events: Sequence[Event], coin: Coin) -> Iterator[Event]:
    """Yields the events of an older record, with the true states after its commands."""
    state = NOTHING
    for event in events:
        yield event
        match event:
            case Start():
                coin.reset(event.game)
            case ActionTaken() if event.command is not None:
                coin.step(event.command)
            case Restart():
                coin.reset(GAME)
                for command in event.replayed:
                    coin.step(command)
            case _:
                continue
        now = coin.true_state()
        if found := change(state, now):
            yield found
        state = now


def picture(moment: Moment) -> str:
    """Returns the picture as SVG that needs no other file, for light and dark pages."""
    found = moment.differences
    assert found is not None
    true = true_world(moment.true, moment.world)
    album = Album([true, moment.world])
    marks, true_marks = marks_of(moment, moment.world.facts)
    maps = [album.draw(1, marks), album.draw(0, true_marks)]
    right = album.width + 2 * MARGIN
    width = max(right + album.width + MARGIN, 640)
    below = TOP + album.height + 2 * LINE
    texts = [
        (MARGIN, 22, "b", "What the model believes"),
        (right, 22, "b", "What is true"),
        (MARGIN, below - 6, "b", "Wrong lines of its problem file"),
        (right, below - 6, "b", "What the game had told it"),
    ]
    for number, fact in enumerate(sorted(found.wrong)):
        y = below + (number + 1) * LINE - 4
        texts.append((MARGIN, y, "wrong", f"✗ {written(fact)}"))
    for number, fact in enumerate(sorted(found.missed)):
        y = below + (number + 1) * LINE - 4
        texts.append((right, y, "missed", f"! {written(fact)}"))
    longest = max(x + len(text) * CHARACTER for x, _, _, text in texts)
    width = max(width, longest + MARGIN)
    height = below + max(len(found.wrong), len(found.missed)) * LINE + MARGIN
    size = f"{width:.0f} {height:.0f}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}"'
        f' width="{width:.0f}" height="{height:.0f}" class="map">',
        f"<style>{_style()}</style>",
        '<rect class="paper" width="100%" height="100%"/>',
    ]
    for x, svg in zip((MARGIN, right), maps, strict=True):
        parts.append(str(svg).replace("<svg ", f'<svg x="{x:.0f}" y="{TOP}" ', 1))
    for x, y, class_, text in texts:
        parts.append(
            f'<text x="{x:.0f}" y="{y:.0f}" class="{class_}">{escape(text)}</text>'
        )
    return "\n".join([*parts, "</svg>\n"])


def _style() -> str:
    """Returns the pages' own styles of maps, with the colours of both themes."""
    templates = resources.files(pages) / "templates"
    common = (templates / "common.css").read_text(encoding="utf-8")
    colours, _, _ = common.partition("* {")
    own = (templates / "map.css").read_text(encoding="utf-8")
    return f"{colours}{own}.paper {{ fill: var(--paper); }}"
