"""What the plugin of every server leaves out is not missed."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from pddlego_local.core.errors import ModelFault
from pddlego_local.core.nouns import Completion, Grammar, Prefix, Sampling
from pddlego_local.models.vllm.answer import Answers, TextChoice
from pddlego_local.models.vllm.model import VllmModel
from tests.models.asking import PROMPT, TOY

BROKEN = Grammar("broken", "lark", "start: missing")
SAMPLING = Sampling(max_tokens=60, seed=3)


def test_a_continued_answer_has_its_own_tokens_and_not_the_prompts(
    servers: dict[bool, VllmModel],
) -> None:
    for model in servers.values():
        body = {"prompt": [5, 6, 7], "max_tokens": 4, "return_token_ids": True, "ignore_eos": True}
        kind = Answers[TextChoice]
        said = model.start().connection.answer("completions", body, kind, None, lambda: 4)
        assert said.prompt_token_ids is None and said.usage.prompt_tokens == 3
        assert len(said.choices[0].drawn) == 4


def _continued(model: VllmModel, begun: Prefix | None, grammar: Grammar) -> Completion:
    return model.start().complete(PROMPT, grammar, SAMPLING, begun)


def test_a_grammar_that_does_not_compile_fails_its_request_alone(
    servers: dict[bool, VllmModel],
) -> None:
    """Even where no client looked at it before: no empty answer comes of it."""
    for model in servers.values():
        begun = model.complete(PROMPT, TOY, SAMPLING, Prefix()).prefix
        ask = partial(_continued, model, begun)

        alone = ask(TOY).text
        with ThreadPoolExecutor(12) as pool:
            asked = [pool.submit(ask, (TOY, BROKEN)[n % 3 == 0]) for n in range(12)]
        for n, one in enumerate(asked):
            if n % 3:
                assert one.result().text == alone
            else:
                with pytest.raises(ModelFault):
                    one.result()
        assert ask(TOY).text == alone
