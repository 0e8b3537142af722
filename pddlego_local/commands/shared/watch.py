"""Shows games while they are played, from their growing transcripts: the map as the
model believes it, the plan as it runs, and what was refused.

On a terminal, the picture changes in place, with the arms' games won above it. In a
pipe, the first game of each arm is printed picture by picture. Playing does not wait
for the pictures: games that end in the meantime are not shown.
"""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from pddlego_local.core.errors import PddlegoError
from pddlego_local.core.nouns import TrueState
from pddlego_local.core.record.events import (
    ActionTaken,
    End,
    Event,
    Plan,
    State,
)
from pddlego_local.core.record.folder import read_events, read_rows
from pddlego_local.core.record.states import NOTHING, after
from pddlego_local.core.visible import in_one_line, visible
from pddlego_local.report.bars import bar
from pddlego_local.report.map.layout import Layout
from pddlego_local.report.map.text import text_map
from pddlego_local.report.map.world import World, read_world
from pddlego_local.report.pages.episode import ended
from pddlego_local.report.pages.failure import Progress

PICTURE_S = 0.3
SHOWN_BY_PICTURES = (Plan, ActionTaken, End)


class Watch:
    """Shows the games in the folders of these cells, {name of the arm: folder}, until
    the end of its `with` block.
    """

    def __init__(self, console: Console, arms: Mapping[str, Path], games: int) -> None:
        self._console = console
        self._arms = arms
        self._games = games
        self._shown = set[tuple[str, str]]()  # arm and game
        self._over = threading.Event()
        self._live = Live(
            console=console,
            transient=True,
            refresh_per_second=8,
            vertical_overflow="crop",
        )
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def __enter__(self) -> "Watch":
        if self._console.is_terminal:
            self._live.start()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()
        self._live.stop()

    def _follow(self) -> None:
        self._show(Text("loading the models", "dim"))
        while not self._over.is_set():
            found = self._begun()
            if found is None:
                self._over.wait(PICTURE_S)
                continue
            arm, game = found
            self._shown.add(found)
            picture = Picture(arm, game)
            for event in self._events(arm, game):
                picture.add(event)
                if isinstance(event, SHOWN_BY_PICTURES):
                    self._show(picture.drawn(self._console.width))
                    self._over.wait(PICTURE_S)

    def _begun(self) -> tuple[str, str] | None:
        """Returns the arm and the number of a game that is being played and was not
        shown; in a pipe, a game of an arm of which none was shown.
        """
        for arm, folder in self._arms.items():
            if not self._console.is_terminal and any(a == arm for a, _ in self._shown):
                continue
            for path in sorted(folder.glob("transcripts/*.partial")):
                game = path.name.partition("-")[0]
                if (arm, game) not in self._shown:
                    return arm, game
        return None

    def _events(self, arm: str, game: str) -> Iterator[Event]:
        """Yields the events of a game as they happen, to its end."""
        transcripts = self._arms[arm] / "transcripts"
        count = 0
        while True:
            is_over = self._over.is_set()
            paths = [*transcripts.glob(f"{game}-0.*")]
            try:
                events = read_events(paths[0]) if paths else []
            except (PddlegoError, OSError):  # the file just got its last name
                events = []
            yield from events[count:]
            count = max(count, len(events))
            if is_over or (events and isinstance(events[-1], End)):
                return
            self._over.wait(0.1)

    def _show(self, picture: RenderableType) -> None:
        if self._console.is_terminal:
            self._live.update(Group(self._standing(), picture))
        else:
            self._console.print(picture)

    def _standing(self) -> Text:
        """Returns a line for each arm with its games won so far."""
        longest = max(map(len, self._arms))
        text = Text()
        for arm, folder in self._arms.items():
            rows = read_rows(folder / "episodes.jsonl")
            won = sum(row.success for row in rows)
            text.append(f"{arm:<{longest}}  {bar(won / self._games)}  ")
            text.append(f"{won} won of {len(rows)} played\n")
        return text


@dataclass
class Picture:
    """One game at one moment: the last problem file as a world, and the one `before`
    it.
    """

    arm: str
    game: str
    true: TrueState = NOTHING
    world: World = field(default_factory=World)
    before: World | None = None
    progress: Progress = field(default_factory=Progress)
    end: str = ""
    layout: Layout = field(default_factory=Layout)

    def add(self, event: Event) -> None:
        match event:
            case State():
                self.true = after(self.true, event)
            case Plan():
                self.before = self.world if self.progress.plan else None
                self.world = read_world(event.domain, event.problem, self.true)
            case End():
                self.end = ended(event.row)
        self.progress = self.progress.after(event)

    def drawn(self, width: int) -> Text:
        """Returns the whole picture; no line is longer than `width`."""
        text = Text(no_wrap=True, overflow="ellipsis")
        where = self.end or f"step {self.progress.step}"
        text.append(f"{self.arm}, game {self.game}: {where}\n", "bold")
        plan = self.progress.plan
        if plan is None:
            return text
        for number, action in enumerate(plan.plan):
            is_done = number < self.progress.done
            mark, style = ("✓", "green") if is_done else ("·", "dim")
            text.append(f"{mark} {_line(action)}\n", style)
        if self.progress.refused:
            text.append(f"✗ {_line(self.progress.refused)}\n", "bold red")
            text.append(f"  {_line(self.progress.why)}\n", "red")
        drawn = text_map(
            self.world, before=self.before, width=width, layout=self.layout
        )
        text.append_text(drawn)
        return text


def _line(text: str) -> str:
    """Returns a text on one line, without control characters."""
    return in_one_line(visible(text[:200]))
