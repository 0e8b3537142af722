"""The Fast Downward planner, with limits of time and memory.

`plan` sends the domain and the problem to a warm worker process (worker.py) and reads
its reply (verdict.py). A plan is optimal if `search` is an optimal search and the
`fallback` was not needed.
"""

import re
import time
from dataclasses import asdict, field
from typing import Self

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from pddlego_local.core.nouns import PlanResult
from pddlego_local.planner.verdict import judge
from pddlego_local.planner.warm import WorkerPool

LAMA_FIRST = (
    "let(hlm,"
    " eval_modify_costs(landmark_sum(lm_factory=lm_reasonable_orders_hps(lm_rhw()),"
    "pref=false),cost_type=one),let(hff, eval_modify_costs(ff(),cost_type=one),"
    "lazy_greedy([hff,hlm],preferred=[hff,hlm],cost_type=one,reopen_closed=false)))"
)
"""The first iteration of LAMA (Richter and Westphal 2010), as Fast Downward 26.6
abbreviates it.
"""

WALL_PER_CPU = 10

CLOSED = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class Limits:
    """The limits of one task, for translation and searches together.

    `cpu_s` is CPU time in seconds, rounded up to whole seconds. `memory_mb` is address
    space in MiB. `wall_s` only stops a task that a busy machine keeps from using its
    CPU time; None means `WALL_PER_CPU` times `cpu_s`. Time in which the machine or the
    task was frozen does not count.
    """

    cpu_s: float = Field(default=60.0, gt=0, le=86_400)
    wall_s: float | None = Field(default=None, gt=0, le=86_400 * WALL_PER_CPU)
    memory_mb: int = Field(default=2048, ge=64)

    @property
    def in_full(self) -> dict[str, float]:
        """Returns every limit by its name, with a number for `wall_s`."""
        return {**asdict(self), "wall_s": self.wall_s or self.cpu_s * WALL_PER_CPU}


@dataclass(frozen=True, kw_only=True, config=CLOSED)
class FastDownward:
    """A `core.protocols.Planner`: thread-safe, with the same plan for the same input at
    any load.

    `search` is a Fast Downward search that gives one plan, or "lama_first". `fallback`
    is the search for tasks that `search` does not support (LM-cut: axioms, conditional
    effects), "" for none. At most `workers` tasks run at once, each in separate
    processes. The tasks of all planners together are limited to the number of cores,
    and further calls wait. Nothing is started before the first `plan`. Call `close` at
    the end, or use a `with` block. Do not use one planner on both sides of an
    `os.fork`.
    """

    search: str = Field(default="astar(lmcut())", min_length=1)
    fallback: str = LAMA_FIRST
    limits: Limits = Limits()
    workers: int = Field(default=1, ge=1)
    _pool: WorkerPool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        search = LAMA_FIRST if self.search == "lama_first" else self.search
        settings = {"search": search, "fallback": self.fallback, **self.limits.in_full}
        object.__setattr__(self, "_pool", WorkerPool(self.workers, settings))

    def plan(self, domain: str, problem: str) -> PlanResult:
        """Returns Fast Downward's verdict on this pair. Bad PDDL is an outcome, not an
        exception.

        A planner that ended by a signal has no verdict, so the task is planned once
        more in a fresh process. If it crashes twice in the same way, the outcome is
        `planner_fault`. `wait_s` is the time spent waiting for a free worker and for
        its start, and with ended processes.

        Raises PlannerFault if the worker cannot be started, or something from outside
        ends it twice, or the planner is closed; MissingPart if Fast Downward is not
        installed; ConfigError if it does not understand `search` or `fallback`, or if
        the limits are higher than this process may set.
        """
        started = time.monotonic()
        reply = self._pool.ask(domain, problem)
        worked_s = reply["wall_time_s"]
        wait_s = time.monotonic() - started - worked_s
        judgement = judge(reply, domain, problem)
        cost = re.search(r"^; cost = (\d+)", reply["plan"], re.MULTILINE)
        return PlanResult(
            outcome=judgement.outcome,
            plan=judgement.plan,
            message=judgement.message,
            wall_time_s=worked_s,
            wait_s=wait_s,
            cost=int(cost[1]) if cost else None,
        )

    @property
    def waiting(self) -> int:
        return self._pool.waiting

    def close(self) -> None:
        """Ends the workers and everything that they run. May be called any number of
        times.
        """
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
