"""Checks whether recorded wins in games of the real data set are wins in plain
ALFWorld, too.

    python -m tools.bench.replay_alfworld RUNS

The commands of each win are repeated in ALFWorld's own environment (AlfredTWEnv, 50
steps), in a process without this package. ALFWORLD_DATA names the data set. Exits with
1 if a recorded win is not won there.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pddlego_local.core.record.events import ActionTaken, End, Restart
from pddlego_local.core.record.folder import transcripts
from pddlego_local.environments.alfworld.data import find_games, find_split
from pddlego_local.environments.alfworld.installation import find_environment, python
from pddlego_local.report.cells import CellRecord, find_cells
from tools.bench.markdown import table

COLLECTED = """
import json, sys
from alfworld.agents.environment.alfred_tw_env import AlfredTWEnv
data = sys.argv[1]
config = {
    "env": {"goal_desc_human_anns_prob": 0, "task_types": [1, 2, 3, 4, 5, 6],
            "domain_randomization": False, "expert_type": "handcoded"},
    "dataset": {"data_path": data, "eval_id_data_path": data,
                "eval_ood_data_path": data,
                "num_train_games": 0, "num_eval_games": 0},
    "general": {"training_method": "dqn"},
    "rl": {"training": {"max_nb_steps_per_episode": 50}},
}
collected = AlfredTWEnv(config, train_eval="eval_in_distribution")
"""
"""A script that loads plain ALFWorld with the games in a folder, its first argument."""

REPLAYED = """
verdicts = []
for file, commands in json.load(sys.stdin):
    collected.game_files = [file]
    env = collected.init_env(batch_size=1)
    env.reset()
    won = False
    for command in commands:
        _, _, done, infos = env.step([command])
        won = bool(infos["won"][0])
    env.close()
    verdicts.append(won)
print(json.dumps(verdicts))
"""


def wins(cell: CellRecord) -> Iterator[tuple[int, list[str]]]:
    """Yields the number of each won game and the commands since its last reset."""
    for _, events in transcripts(cell.folder):
        commands = list[str]()
        for event in events:
            if isinstance(event, Restart):
                commands = [*event.replayed]
            elif isinstance(event, ActionTaken) and event.command is not None:
                commands.append(event.command)
            elif isinstance(event, End) and event.row.success:
                yield event.row.game, commands


def replay(cell: CellRecord) -> list[tuple[int, bool]]:
    played_in = cell.run.identity["environment"]
    split = find_split(Path(os.environ["ALFWORLD_DATA"]), played_in["split"])
    games = find_games(split, played_in["task_types"])
    played = list(wins(cell))
    files = [
        (str(games[number] / "game.tw-pddl"), commands) for number, commands in played
    ]
    child = subprocess.run(
        [python(find_environment()), "-c", COLLECTED + REPLAYED, str(split)],
        input=json.dumps(files),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    verdicts: list[bool] = json.loads(child.stdout.splitlines()[-1])
    return [(number, won) for (number, _), won in zip(played, verdicts, strict=True)]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("runs", type=Path)
    given = parser.parse_args()
    if "ALFWORLD_DATA" not in os.environ:
        parser.error("the variable ALFWORLD_DATA must name the data set's folder")
    rows = list[list[object]]()
    for cell in find_cells([given.runs]):
        if cell.options.get("environment.data"):
            found = replay(cell)
            lost = [number for number, won in found if not won]
            rows.append(
                [cell.folder.name, len(found), len(found) - len(lost), lost or ""]
            )
    print(table(["cell", "wins", "won in plain ALFWorld", "not won: games"], rows))
    return int(any(row[3] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
