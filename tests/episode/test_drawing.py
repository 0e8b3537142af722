"""Answers in stages: what is rolled back, cut, or not what the grammar permits. The
house is that of `test_typed`; the model writes what the test dictates, stage by stage.
"""

import itertools
import json
from collections.abc import Iterable

import pytest

from pddlego_local.core.errors import GrammarIgnored, ModelFault
from pddlego_local.core.nouns import Completion, Grammar, Prefix, Sampling
from pddlego_local.decoding.forms import PDDL
from pddlego_local.decoding.question import Drawn
from pddlego_local.episode.drawing import draw
from pddlego_local.episode.reading.answer import read_constrained
from tests.decoding.on_rung import constraint_for
from tests.decoding.test_typed import DOMAIN, PROBLEM_FILE, SCENE
from tests.episode.drawing import RandomLogits, Request
from tests.questions import QUESTION


class Dictated(RandomLogits):
    """Writes the given texts, a stage each; "|" in one ends it there with "length"."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = iter(texts)
        self.asked: list[tuple[Grammar | None, Sampling, str]] = []

    def answer_to(self, asked: Request) -> Completion:
        assert asked.prefix is not None
        before = asked.prefix.continued
        self.asked.append((asked.grammar, asked.sampling, before))
        text, cut, _ = next(self.texts).partition("|")
        reason = "length" if cut else "stop"
        whole = Prefix(before + text, (1,))
        return Completion(text, reason, 5, len(text), 0.0, "", whole)  # type: ignore[arg-type]


def stages(domain: str = DOMAIN, problem: str = PROBLEM_FILE) -> list[str]:
    """The answer cut where its stages end."""
    text = json.dumps({"df": domain, "pf": problem})
    ends = ["lamp - thing)", "(done))", "(lit ?l)))", "candle - lamp)"]
    cuts = [0, *(text.rindex(end) + len(end) for end in ends), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(cuts)]


def dictate(
    *texts: str, max_tokens: int = 10_000, **stage_tokens: int
) -> tuple[Drawn, Dictated]:
    model = Dictated(texts)
    sampling = Sampling(max_tokens=max_tokens, seed=7)
    staged = constraint_for("typed", PDDL, SCENE)
    return draw(model, QUESTION, staged, sampling, stage_tokens)[0], model


def test_an_answer_in_stages_is_one_answer() -> None:
    drawn, model = dictate(*stages())
    answer = read_constrained(drawn.completion, PDDL)
    assert answer.value
    assert (answer.value.df, answer.value.pf) == (DOMAIN, PROBLEM_FILE)
    names = [stage.name for stage in drawn.stages]
    assert names == ["types", "predicates", "actions", "objects", "facts"]
    befores = [before for _, _, before in model.asked]
    assert befores == ["".join(stages()[:n]) for n in range(5)]
    assert len({sampling.seed for _, sampling, _ in model.asked}) == 5
    assert drawn.completion.completion_tokens == len("".join(stages()))


def test_a_type_that_the_actions_need_is_added() -> None:
    types, predicates, actions, objects, facts = stages()
    without = types.replace("room way - object", "room - object")
    drawn, _ = dictate(without, predicates, actions, objects, facts)
    assert "object lamp - thing way)" in drawn.completion.text
    assert drawn.stages[1].before.endswith("lamp - thing")
    assert drawn.stages[1].head == " way)"


@pytest.mark.parametrize("cut", range(5))
def test_a_stage_cut_by_the_limit_ends_the_answer(cut: int) -> None:
    texts = stages()
    drawn, _ = dictate(*texts[:cut], texts[cut][:-4] + "|", *texts[cut + 1 :])
    answer = read_constrained(drawn.completion, PDDL)
    assert (answer.value, answer.fault) == (None, "truncated")
    assert len(drawn.stages) == cut + 1
    assert drawn.stages[-1].finish_reason == "length"


def test_limits_are_of_stages_and_of_the_whole() -> None:
    texts = stages()
    _, model = dictate(*texts, max_tokens=10_000, types=300, objects=200)
    limits = [sampling.max_tokens for _, sampling, _ in model.asked]
    spent = [len(text) for text in texts]
    assert limits == [
        300,
        10_000 - spent[0],
        10_000 - sum(spent[:2]),
        200,
        10_000 - sum(spent[:4]),
    ]


def test_an_answer_that_has_spent_its_tokens_is_cut() -> None:
    drawn, _ = dictate(*stages(), max_tokens=sum(map(len, stages()[:3])))
    assert drawn.completion.finish_reason == "length"
    assert len(drawn.stages) == 3


def test_a_stage_outside_its_grammar_is_never_the_models_fault() -> None:
    types, predicates, *others = stages()
    with pytest.raises(GrammarIgnored, match="'facts'"):
        dictate(
            types, predicates, *others[:2], others[2].replace("(at hall)", "(in hall)")
        )
    with pytest.raises(ModelFault, match="'predicates'"):
        dictate(types, predicates[:-5], *others)
