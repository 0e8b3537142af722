"""A free draft before a constrained answer, on every rung and for every form."""

from dataclasses import replace

import pytest

from pddlego_local.core.nouns import Completion, Message, Names, Sampling, Turn
from pddlego_local.decoding.forms import FORMS, PDDL, choice
from pddlego_local.decoding.question import GrammarContext, Question
from pddlego_local.decoding.settings import Decoding
from pddlego_local.environments.coin import reference
from pddlego_local.environments.coin.game import TABLES
from pddlego_local.episode.drawing import draw
from pddlego_local.episode.reading.answer import read_constrained
from tests.decoding.on_rung import constraint_for
from tests.episode.drawing import PROMPT_TOKENS, RandomLogits, Request
from tests.questions import MESSAGES, QUESTION

LOOK = Turn("look around", "You are in the kitchen. To the West you see the corridor. ")
SCENE = GrammarContext(
    actions=TABLES.schemas,
    names=Names(("kitchen", "corridor", "west"), ("kitchen", "corridor", "west")),
    commands=("move west",),
    domain=TABLES.domain,
    problem=reference.problem((LOOK,)),
)
ALL_FORMS = (*FORMS, choice(7))


class Overheard(RandomLogits):
    """Keeps the requests. With `planted` that is the draft, as it stands."""

    def __init__(self, planted: str | None = None) -> None:
        super().__init__(1)
        self.planted = planted
        self.requests = list[Request]()

    def answer_to(self, asked: Request) -> Completion:
        self.requests.append(asked)
        if asked.grammar is None and self.planted is not None:
            return Completion(
                self.planted, "stop", PROMPT_TOKENS, len(self.planted), 0.5
            )
        return super().answer_to(asked)


@pytest.mark.parametrize("rung", ["json", "grounded"])
def test_every_form_can_be_drafted(rung: str) -> None:
    finished = 0
    for form in ALL_FORMS:
        model = Overheard()
        question = Question(form, MESSAGES, SCENE)
        constraint = constraint_for(rung, form, SCENE)
        sampling = Sampling(max_tokens=4000, seed=3, draft_tokens=50)
        (drawn,) = draw(model, question, constraint, sampling, {})
        finished += read_constrained(drawn.completion, form).fault in ("", "empty")
        draft, *answer = drawn.stages
        assert draft.name == "draft"
        assert draft.grammar is None
        assert draft.before == ""
        assert form.example in draft.asked
        assert drawn.completion.text == answer[-1].before + answer[-1].text
        first, *others = model.requests
        assert (first.messages, first.grammar) == (MESSAGES, None)
        grammars = [asked.grammar and asked.grammar.sha256 for asked in others]
        assert grammars == [stage.grammar for stage in answer]
        drafted = (Message("assistant", draft.text), Message("user", draft.asked))
        for asked in others:
            assert asked.messages == (*MESSAGES, *drafted)
        assert not any(asked.sampling.draft_tokens for asked in model.requests)
        if not constraint.in_stages:
            assert [stage.name for stage in answer] == ["answer"]
    assert finished >= len(ALL_FORMS) - 2  # some lists of random weights are cut


@pytest.mark.parametrize("rung", ["json", "grounded"])
def test_tokens_and_time_of_the_draft_count_and_its_limit_is_its_own(rung: str) -> None:
    constraint = constraint_for(rung, PDDL, SCENE)
    model = Overheard("p" * 300)
    sampling = Sampling(max_tokens=900, seed=3, draft_tokens=700)
    (drawn,) = draw(model, QUESTION, constraint, sampling, {"types": 400})
    stages = drawn.stages
    assert drawn.completion.completion_tokens == sum(
        stage.completion_tokens for stage in stages
    )
    assert stages[0].completion_tokens == 300
    assert drawn.completion.latency_s == pytest.approx(
        sum(stage.latency_s for stage in stages)
    )
    assert stages[0].sampling.max_tokens == 700
    assert stages[1].sampling.max_tokens == (900 if rung == "json" else 400)
    assert drawn.completion.prompt_tokens == PROMPT_TOKENS


@pytest.mark.parametrize("rung", ["syntax", "grounded"])
def test_each_sample_has_a_draft_of_its_own_and_they_come_again(rung: str) -> None:
    constraint = constraint_for(rung, PDDL, SCENE)
    assert constraint.in_stages is (rung == "grounded")
    sampling = Sampling(max_tokens=1000, seed=5, draft_tokens=40)

    def texts(count: int) -> list[list[str]]:
        samples = draw(Overheard(), QUESTION, constraint, sampling, {}, count)
        return [[stage.text for stage in drawn.stages] for drawn in samples]

    five = texts(5)
    assert (
        len({draft for draft, *_ in five})
        == len({answer for _, answer, *_ in five})
        == 5
    )
    assert texts(5) == five
    assert texts(1) == five[:1]


def test_an_answer_without_a_draft_is_what_it_was() -> None:
    constraint = constraint_for("json", PDDL, SCENE)
    sampling = Sampling(max_tokens=400, seed=5)
    plain = draw(Overheard(), QUESTION, constraint, sampling, {})[0]
    drafted = draw(
        Overheard(), QUESTION, constraint, replace(sampling, draft_tokens=9), {}
    )[0]
    assert plain.stages == ()
    assert len(drafted.stages) == 2
    assert (
        plain.completion.text == drafted.completion.text
    )  # the seed is the answer's own


def test_what_a_request_asks_for_follows_the_configuration() -> None:
    for reason, thinking, tokens in (
        ("none", False, 0),
        ("think", True, 0),
        ("draft", False, 77),
    ):
        decoding = Decoding(rung="typed", reason=reason, draft_tokens=77)  # type: ignore[arg-type]
        sampling = decoding.sampling(4)
        assert (sampling.thinking, sampling.draft_tokens, sampling.seed) == (
            thinking,
            tokens,
            4,
        )
    assert Decoding(rung="free", reason="think").sampling(4).thinking
