"""An answer from the model's own distribution, as far as that lies within the grammar.

Sequential Monte Carlo (Loula et al., arXiv 2504.13139, algorithm 1), with an answer's stages as its
steps. What is wanted is p(answer | the grammar takes it), with p the model's probability of the
tokens at the sampling temperature. A mask draws from q instead: it divides each token's p by the
mass that it leaves. So what was drawn under masks weighs p/q, the product of these masses.

    n particles that weigh 1
    until all are over: each draws its next stage, and weighs as much more as its masses left;
        one that rolls back, or is cut by a limit, is outside the language and weighs 0;
        if the effective sample size is under n/2, draw n by weight, which then weigh the mean
    the answer is one of them, drawn by weight

A stage's head is drawn like the rest: text that is forced without a weight would be no part of p.

Behind a server that tells q alone (`WeighingWholes`), p is asked for once, of each whole answer, so
that nothing is resampled: importance sampling.
"""

import bisect
import dataclasses
import itertools
import math
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pddlego_local.core.errors import ModelFault
from pddlego_local.core.nouns import Completion, Messages, Potential, Sampling
from pddlego_local.core.protocols import LanguageModel, WeighingWholes
from pddlego_local.core.record import events
from pddlego_local.core.seeds import derive_seed
from pddlego_local.decoding.question import Drawn
from pddlego_local.decoding.stages import Constraint, Stage, StagedGrammar, Stages
from pddlego_local.episode.growing import Growing, StageTokens

MOST_AT_ONCE = 64
T = TypeVar("T")


@dataclasses.dataclass(eq=False)
class Particle:
    """`outside`: its text is not in the language, and its weight is zero whatever it was."""

    answer: Growing
    log_weight: float = 0.0
    outside: bool = False

    @property
    def goes_on(self) -> bool:
        return not self.answer.finish_reason and not self.outside

    def draw_stage(self) -> Completion:
        """Raises ModelFault for a model that tells nothing that could be weighed."""
        piece = self.answer.draw_stage()
        if piece.log_mass is not None:
            self.log_weight += piece.log_mass
        elif piece.log_drawn is not None:
            self.log_weight -= piece.log_drawn
        else:
            raise ModelFault("the model does not tell what its masks took away")
        self.outside = self.answer.rolls_back or self.answer.finish_reason not in ("", "stop")
        return piece


def draw_weighted(
    model: LanguageModel,
    messages: Messages,
    constraint: Constraint,
    sampling: Sampling,
    stage_tokens: StageTokens,
    hopeless: Callable[[Potential, str], bool] = lambda potential, text: False,
) -> Drawn:
    """One of `sampling.particles` answers; those that are `hopeless` when they are over are taken
    for outside the language. Raises as `Growing.draw_stage`, and ModelFault for a model that tells
    no masses."""
    staged, seeds = in_stages(constraint), range(sampling.particles)
    wholes, start = model if isinstance(model, WeighingWholes) else None, time.perf_counter()
    own = [dataclasses.replace(sampling, seed=derive_seed(sampling.seed, n)) for n in seeds]
    particles = [Particle(Growing(model, messages, staged, s, stage_tokens)) for s in own]
    rng = random.Random(derive_seed(sampling.seed, "resample"))
    pieces = list[Completion]()
    while going := [particle for particle in particles if particle.goes_on]:
        pieces += _each(Particle.draw_stage, going, at_once=wholes is not None)
        for particle in going:
            if particle.answer.finish_reason == "stop":
                text = particle.answer.so_far.text
                particle.outside = hopeless(sampling.potential, text)
        if all(particle.outside for particle in particles):
            # Nothing else is left: those that can, roll back and go on as masked answers do.
            for particle in particles:
                particle.outside = not particle.answer.rolls_back
        elif not wholes and any(particle.goes_on for particle in particles):
            effective = 1 / math.fsum(weight**2 for weight in shares(particles))
            if effective < len(particles) / 2:
                particles = resampled(particles, own, rng)
    weighed = _weigh_wholes(wholes, particles, sampling.temperature) if wholes else 0
    (chosen,) = rng.choices(particles, shares(particles))
    drawn = chosen.answer.whole()
    total = dataclasses.replace(
        drawn.completion,
        prompt_tokens=drawn.completion.prompt_tokens + weighed,
        completion_tokens=sum(piece.completion_tokens for piece in pieces),
        forced_tokens=sum(piece.forced_tokens for piece in pieces),
        latency_s=(
            time.perf_counter() - start if wholes else sum(piece.latency_s for piece in pieces)
        ),
    )
    told = tuple(_told(particle, particle is chosen) for particle in particles)
    return Drawn(total, drawn.stages, told)


def _weigh_wholes(model: WeighingWholes, particles: Sequence[Particle], temperature: float) -> int:
    """Those that count: p comes on top of 1/q. How many tokens were read for it."""

    def weigh(particle: Particle) -> None:
        particle.log_weight += model.log_probability(particle.answer.so_far, temperature)

    counting = [one for one in particles if not one.outside] or particles
    _each(weigh, counting, at_once=True)
    read = [one.answer.so_far for one in counting]
    return sum(len(prefix.opening) + len(prefix.tokens) for prefix in read)


def _each(do: Callable[[Particle], T], particles: Sequence[Particle], at_once: bool) -> list[T]:
    """`at_once` for a server, which batches what threads ask."""
    if not at_once:
        return [do(particle) for particle in particles]
    with ThreadPoolExecutor(min(len(particles), MOST_AT_ONCE)) as pool:
        return list(pool.map(do, particles))


def in_stages(constraint: Constraint) -> StagedGrammar:
    """A grammar as an answer of one stage."""
    if isinstance(constraint, StagedGrammar):
        return constraint
    if constraint is None:
        raise ValueError("without a grammar nothing is bent: there is nothing to weigh")
    stage = Stage("answer", constraint)

    def stages() -> Stages:
        yield stage

    return StagedGrammar(constraint.name, stages)


def shares(particles: Sequence[Particle]) -> list[float]:
    """Their weights, as parts of 1; where all are outside the language, as if none were."""
    counting = [one for one in particles if not one.outside] or particles
    most = max(one.log_weight for one in counting)
    weights = [math.exp(one.log_weight - most) if one in counting else 0.0 for one in particles]
    return [weight / math.fsum(weights) for weight in weights]


def resampled(
    particles: Sequence[Particle], samplings: Sequence[Sampling], rng: random.Random
) -> list[Particle]:
    """As many again, each about as often as its weight says: systematic resampling, in which one of
    the weight k/n comes k times. All weigh the mean of before, and each goes on by its own seed."""
    counting = [one.log_weight for one in particles if not one.outside]
    most, n = max(counting), len(particles)
    mean = most + math.log(math.fsum(math.exp(weight - most) for weight in counting) / n)
    upto, offset = list(itertools.accumulate(shares(particles))), rng.random()
    places = [min(bisect.bisect(upto, (k + offset) / n), n - 1) for k in range(n)]
    drawn = list[Particle]()
    for k, (place, sampling) in enumerate(zip(places, samplings, strict=True)):
        answer = particles[place].answer
        if place in places[:k]:
            answer = answer.copy()
        answer.sampling = sampling
        drawn.append(Particle(answer, mean))
    return drawn


def _told(particle: Particle, chosen: bool) -> events.Particle:
    answer = particle.answer.whole().completion
    return events.Particle(
        text=answer.text,
        log_weight=None if particle.outside else particle.log_weight,
        completion_tokens=answer.completion_tokens,
        chosen=chosen,
    )
