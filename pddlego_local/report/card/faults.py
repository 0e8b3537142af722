"""Ten lost games of a card, drawn at random, each with a page of its own."""

import random
from dataclasses import dataclass

from pddlego_local.core.outcomes import OUTCOMES
from pddlego_local.core.record.counting import counted
from pddlego_local.core.record.entry import Played
from pddlego_local.report.card.numbers import Evaluated
from pddlego_local.report.pages.episode import episode_page
from pddlego_local.report.pages.links import Neighbours, episode_links
from pddlego_local.report.pages.maps import Reference

MOST = 10
FOLDER = "faults"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A lost game. `page` is the path of its page below the card's folder; "" without
    a transcript. `means` says what its outcome means.
    """

    part: str
    arm: str
    game: int
    outcome: str
    means: str
    page: str


def write_faults(evaluated: Evaluated) -> list[Fault]:
    """Draws lost games, the same ones from the same records, and writes their pages.
    Parts that share their episodes count once.
    """
    lost = dict[tuple[str, int], Played]()
    for played in evaluated.entry.plays:
        for row in counted(evaluated.rows(played)).counted:
            if not row.success:
                lost.setdefault((played.cell, row.game), played)
    episodes = [(played, game) for (_, game), played in lost.items()]
    draw = random.Random(f"{evaluated.entry.sha256} {evaluated.entry.title}")
    drawn = draw.sample(episodes, min(MOST, len(episodes)))
    for old in (evaluated.run / FOLDER).glob("*.html"):
        old.unlink()
    return [
        _written(evaluated, played, game) for played, game in sorted(drawn, key=str)
    ]


def _written(evaluated: Evaluated, played: Played, game: int) -> Fault:
    cell = evaluated.cell(played)
    assert cell is not None  # it has a row
    link = episode_links([cell])[0][game, 0]
    page = ""
    if link.path:
        page = f"{FOLDER}/{played.part}-{played.arm}-{game}.html"
        path = evaluated.run / page
        path.parent.mkdir(exist_ok=True)
        alone = Neighbours(None, None, {})
        where = f"{played.part}, {played.arm}"
        back = [(f"the card of {evaluated.entry.title} ({where})", "../card.html")]
        text = episode_page(cell, link, alone, Reference.of(cell.run), back)
        path.write_text(text, encoding="utf-8")
    outcome = link.row.outcome
    return Fault(
        part=played.part,
        arm=played.arm,
        game=game,
        outcome=outcome,
        means=" ".join(OUTCOMES[outcome].means.split()),
        page=page,
    )
