"""The domains with which a method has won before, from its records."""

import functools
from pathlib import Path

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.record.events import End, Plan
from pddlego_local.core.record.folder import transcripts


@functools.cache
def winning_domains(folder: Path) -> tuple[tuple[str, str], ...]:
    """(where from, text) of the last planned domain of every won episode below `folder`, sorted.

    Raises ConfigError if there is none.
    """
    domains = []
    for path, events in transcripts(folder):
        if any(isinstance(event, End) and event.row.outcome == "success" for event in events):
            planned = [event.domain for event in events if isinstance(event, Plan) and event.plan]
            domains += [(str(path.relative_to(folder)), domain) for domain in planned[-1:]]
    if not domains:
        raise ConfigError(
            f"method.domains={folder}: no won episode with a plan below this folder; play first "
            "what its domains come from, for an experiment of ours with "
            f"`make sweep EXPERIMENT={folder.name}`"
        )
    return tuple(domains)
