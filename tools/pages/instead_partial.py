"""The parts of docs/results/instead.md on edits in partly seen worlds."""

import re
from dataclasses import dataclass
from itertools import pairwise

from pddlego_local.core.record.events import Call, Event, Plan, Repair
from pddlego_local.core.record.rows import EpisodeRow
from pddlego_local.report.cells import CellRecord
from pddlego_local.report.comparisons import family
from pddlego_local.report.contrasts import Group
from pddlego_local.report.verdicts import in_short
from tools.pages import tables
from tools.pages.pooled import declared_groups, pooled
from tools.pages.records import Records, scored, transcripts
from tools.pages.ways import WAYS, by_way, costs, share_won, total_won

PARTIAL = "instead/partial_records.tar.xz", "instead_partial"
PRETRAINED = "instead/partial_pretrained_records.tar.xz", "instead_partial_pretrained"
PILOTS = "instead/partial_pilot_records.tar.xz"
WORLDS = ("coin", "office", "vault")
UNDEFINED = re.compile(r"Undefined object\s+Got: (\S+)")


@dataclass
class Answer:
    """An answer, the changes that the repair made to it, and what the planner said of
    its last file.
    """

    call: Call
    changes: tuple[str, ...] = ()
    message: str = ""


def of_world(cells: list[CellRecord]) -> dict[str, CellRecord]:
    """Returns the arm's cell of each world."""
    found = {str(cell.options["environment.world"]): cell for cell in cells}
    return {world: found[world] for world in WORLDS}


def arms(records: Records) -> str:
    """The table of games won in each world, and what they cost."""
    rows = []
    for name, cells in by_way(records.sweep(*PARTIAL)).items():
        in_worlds = {
            world: tables.games_won(cell) for world, cell in of_world(cells).items()
        }
        row = {"arm": f"`{name}`", "what it is": WAYS[name], **in_worlds}
        row |= {"all": tables.games_won(*cells), "share": share_won(cells)}
        rows.append(row | costs(cells, total_won(cells)))
    return tables.table(rows)


def answers(records: Records, sweep: tuple[str, str]) -> str:
    """The table of what became of answers, over all worlds."""
    rows = []
    for name, cells in by_way(records.sweep(*sweep)).items():
        played = [row for cell in cells for row in scored(cell)]
        rows.append(
            {
                "arm": f"`{name}`",
                "answers": f"{sum(row.calls for row in played):,}",
                "no edit could be read": _ended(played, "no_json", "wrong_keys"),
                "refused by the planner": _ended(played, "translate_error"),
                "no plan exists": _ended(played, "unsolvable"),
                "the goal was true already": _ended(played, "goal_already_true"),
                "with a plan": _ended(played, "solved"),
            }
        )
    return tables.table(rows)


def pilot(records: Records) -> str:
    """The table of the pretrained model's pilot: free answers after more and more
    example games.
    """
    rows = []
    for sweep in ("coin", "explored"):
        for cell in records.sweep(PILOTS, sweep):
            played = scored(cell)
            rows.append(
                {
                    "world": cell.options.get("environment.world", "CoinCollector"),
                    "example games": cell.options["method.shots"],
                    "games won": tables.games_won(cell),
                    "answers": str(sum(row.calls for row in played)),
                    "no edit could be read": _ended(played, "no_json", "wrong_keys"),
                    "refused by the planner": _ended(played, "translate_error"),
                    "with a plan": _ended(played, "solved"),
                }
            )
    return tables.table(rows)


def floor(records: Records) -> str:
    """The games that random commands win, of those that the pretrained model played."""
    archive, _ = PRETRAINED
    return tables.games_won(*records.sweep(archive, "random_policy"))


def as_if_applied(records: Records) -> str:
    """For example "119 of 335": the pretrained model's answers to an error that use an
    object which only the refused answer declares.
    """
    (cell,) = by_way(records.sweep(*PRETRAINED))["rounds"]
    again = applied = 0
    for events in transcripts(cell):
        for refused, answer in pairwise(_answers(events)):
            if answer.call.where.retry <= refused.call.where.retry:
                continue  # another question
            again += 1
            declared, _, _ = refused.call.text.partition('"init"')
            undefined = UNDEFINED.search(answer.message)
            applied += undefined is not None and undefined[1] in declared
    return f"{applied} of {again}"


def _ended(played: list[EpisodeRow], *causes: str) -> str:
    ended = sum(row.causes.get(cause, 0) for row in played for cause in causes)
    return f"{ended:,}"


def verdicts(records: Records) -> str:
    """The declared comparisons over all worlds."""
    return tables.verdict_lines(pooled(records, *PARTIAL))


def by_world(records: Records) -> str:
    """The primary comparisons in each world by itself."""
    primary = declared_groups(records, *PARTIAL)["primary"]
    alone: list[Group] = [[contrast] for group in primary for contrast in group]
    tested = family("primary", alone, frozenset(), ())
    rows = dict[str, dict[str, str]]()
    for (contrast,), found in zip(alone, tested, strict=True):
        base = tables.short_name(found.base.value, {})
        other = tables.short_name(found.other.value, {})
        pair = f"`{base}` → `{other}`"
        world = contrast.base.options["environment.world"]
        rows.setdefault(pair, {"comparison": pair})[world] = in_short(found, found.new)
    columns = ("comparison", *WORLDS)
    return tables.table({name: row[name] for name in columns} for row in rows.values())


def declared_afterwards(records: Records) -> str:
    """For example "70 of 114": of the games that the repair alone won in office and
    vault, those in which it declared a name in the first answer that differs.
    """
    arms = by_way(records.sweep(*PARTIAL))
    games = declared = 0
    for world in ("office", "vault"):
        repaired = _episodes(of_world(arms["repair_grounded"])[world], won=True)
        masked = _episodes(of_world(arms["grounded"])[world], won=False)
        for game in repaired.keys() & masked.keys():
            games += 1
            declared += _declares(repaired[game], masked[game])
    return f"{declared} of {games}"


def _episodes(cell: CellRecord, *, won: bool) -> dict[int, list[Event]]:
    """Returns the events of the games that were won, or of those that were lost."""
    played = zip(scored(cell), transcripts(cell), strict=True)
    return {row.game: events for row, events in played if row.won == won}


def _declares(repaired: list[Event], masked: list[Event]) -> bool:
    """Whether the repair declared a name in the first answer that the mask changed."""
    pairs = zip(_answers(repaired), _answers(masked), strict=False)
    for ours, theirs in pairs:
        assert ours.call.messages == theirs.call.messages
        if ours.call.text.split() != theirs.call.text.split():
            return any(": declared " in change for change in ours.changes)
    raise ValueError("the two episodes have the same answers")


def _answers(events: list[Event]) -> list[Answer]:
    found = list[Answer]()
    for event in events:
        if isinstance(event, Call):
            found.append(Answer(event))
        elif isinstance(event, Repair):
            found[-1].changes = event.changes
        elif isinstance(event, Plan):
            found[-1].message = event.message
    return found
