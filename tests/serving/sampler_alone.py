"""Run by the serving environment's Python: the plugin's sampler against vLLM's, row by
row.

Four seeded requests: drafts that are forced, one that is not, a wrong one beside the
forced token, none. Then 64 requests with up to 15 drafts of all these kinds. Prints
both's tokens, as JSON.
"""

import json
import random
from dataclasses import dataclass, replace

import torch
from forced_tokens import ForcedTokenSampler
from vllm.v1.sample.logits_processor import LogitsProcessors
from vllm.v1.sample.metadata import SamplingMetadata
from vllm.v1.sample.sampler import Sampler
from vllm.v1.spec_decode.metadata import SpecDecodeMetadata

VOCABULARY = 50


@dataclass
class Case:
    """By request its drafts; by row of logits the token that alone is permitted, None:
    all are.
    """

    drafts: list[list[int]]
    permitted: list[int | None]

    def rows(self) -> torch.Tensor:
        shape = len(self.permitted), VOCABULARY
        logits = torch.randn(shape, generator=torch.Generator().manual_seed(1))
        for row, permitted in enumerate(self.permitted):
            if permitted is not None:
                masked = torch.full((VOCABULARY,), -torch.inf)
                masked[permitted] = logits[row, permitted]
                logits[row] = masked
        return logits


FEW = Case([[3, 4], [5], [7], []], [3, 4, None, None, None, 8, None, None])


def many(seed: int) -> Case:
    """Most drafts are forced, so that runs are long."""
    draw = random.Random(seed)
    case = Case([], [])
    for _ in range(64):
        drafts = [draw.randrange(VOCABULARY) for _ in range(draw.choice((0, 1, 5, 15)))]
        case.drafts.append(drafts)
        for draft in drafts:
            another = (draft + 1) % VOCABULARY
            (mask,) = draw.choices((draft, another, None), (20, 1, 1))
            case.permitted.append(mask)
        case.permitted.append(None)
    return case


def sampling(seeds: list[int]) -> SamplingMetadata:
    neutral = torch.ones(len(seeds))
    return SamplingMetadata(
        temperature=neutral,
        all_greedy=False,
        all_random=True,
        top_p=None,
        top_k=None,
        generators={
            n: torch.Generator().manual_seed(seed) for n, seed in enumerate(seeds)
        },
        max_num_logprobs=None,
        no_penalties=True,
        prompt_token_ids=None,
        frequency_penalties=neutral,
        presence_penalties=neutral,
        repetition_penalties=neutral,
        output_token_ids=[[] for _ in seeds],
        allowed_token_ids_mask=None,
        bad_words_token_ids={},
        logitsprocs=LogitsProcessors(),
    )


def with_drafts(case: Case, seed: int) -> list[list[int]]:
    metadata = SpecDecodeMetadata.make_dummy(case.drafts, torch.device("cpu"))
    rows = torch.arange(len(case.permitted))
    counts = torch.tensor([len(drafts) for drafts in case.drafts])
    last = (counts + 1).cumsum(0) - 1
    metadata.bonus_logits_indices = last
    metadata.target_logits_indices = rows[~torch.isin(rows, last)]
    asked = sampling([seed + n for n in range(len(counts))])
    sampler = ForcedTokenSampler(Sampler())
    tokens = sampler(metadata, None, case.rows(), asked).sampled_token_ids
    return [[token for token in row if token >= 0] for row in tokens.tolist()]


def one_by_one(case: Case, seed: int) -> list[list[int]]:
    """Each request alone, as long as what is sampled is what was drafted."""
    logits = case.rows()
    answers = []
    first = 0
    for number, drafts in enumerate(case.drafts):
        permitted = case.permitted[first : first + len(drafts)]
        rows = logits[first : first + len(drafts) + 1]
        answers.append(alone(rows, drafts, permitted, seed + number))
        first += len(drafts) + 1
    return answers


def alone(
    rows: torch.Tensor, drafts: list[int], permitted: list[int | None], seed: int
) -> list[int]:
    sampler = Sampler()
    asked = sampling([seed])
    tokens: list[int] = []
    for place in range(len(rows)):
        step = sampler(rows[[place]], replace(asked)).sampled_token_ids
        tokens.append(int(step[0, 0]))
        # Not forced, or not what was drafted: the next step of the engine goes on from
        # here.
        if place < len(drafts) and permitted[place] != drafts[place]:
            break
    return tokens


def pair(case: Case, seed: int) -> list[list[list[int]]]:
    return [with_drafts(case, seed), one_by_one(case, seed)]


few = [pair(FEW, seed) for seed in range(0, 200, 10)]
print(json.dumps({"few": few, "many": [pair(many(seed), seed) for seed in range(5)]}))
