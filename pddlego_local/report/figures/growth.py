"""How PDDL grows: the objects and facts of the problems that were planned with, step by step."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean

from pddlego_local.core.record.events import Event, Plan
from pddlego_local.pddl.edit import facts_as_names, objects_of

Counts = Mapping[str, Mapping[int, float]]
"""{"objects": {step: mean}, "facts": {step: mean}}"""


@dataclass
class Growth:
    """The counts of one series, collected one episode after the other."""

    _counts: dict[str, dict[int, list[int]]] = field(
        default_factory=lambda: {"objects": defaultdict(list), "facts": defaultdict(list)}
    )

    def read(self, events: Iterable[Event]) -> None:
        """An episode; the last problem of each step stands for it."""
        last = {event.where.step: event.problem for event in events if isinstance(event, Plan)}
        for step, problem in last.items():
            self._counts["objects"][step].append(
                len({name.lower() for name in objects_of(problem)})
            )
            self._counts["facts"][step].append(len(set(facts_as_names(problem))))

    @property
    def means(self) -> Counts:
        """Of the episodes that came to a step."""
        return {
            what: {step: fmean(counts[step]) for step in sorted(counts)}
            for what, counts in self._counts.items()
        }
