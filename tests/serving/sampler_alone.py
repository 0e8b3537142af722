"""Run by the serving environment's Python: the plugin's sampler against vLLM's, row by row.

Four seeded requests: drafts that are forced, one that is not, a wrong one beside the forced token,
none. Prints the tokens of both, as JSON.
"""

import json
from dataclasses import replace

import torch
from forced_tokens import ForcedTokenSampler
from vllm.v1.sample.logits_processor import LogitsProcessors
from vllm.v1.sample.metadata import SamplingMetadata
from vllm.v1.sample.sampler import Sampler
from vllm.v1.spec_decode.metadata import SpecDecodeMetadata

VOCABULARY = 50
DRAFTS = [[3, 4], [5], [7], []]
PERMITTED = [[3], [4], None, None, None, [8], None, None]  # by row; None: all


def rows() -> torch.Tensor:
    logits = torch.randn(len(PERMITTED), VOCABULARY, generator=torch.Generator().manual_seed(1))
    for row, permitted in enumerate(PERMITTED):
        if permitted is not None:
            masked = torch.full((VOCABULARY,), -torch.inf)
            masked[permitted] = logits[row, permitted]
            logits[row] = masked
    return logits


def sampling(seeds: list[int]) -> SamplingMetadata:
    neutral = torch.ones(len(seeds))
    return SamplingMetadata(
        temperature=neutral,
        all_greedy=False,
        all_random=True,
        top_p=None,
        top_k=None,
        generators={n: torch.Generator().manual_seed(seed) for n, seed in enumerate(seeds)},
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


def with_drafts(seed: int) -> list[list[int]]:
    metadata = SpecDecodeMetadata.make_dummy(DRAFTS, torch.device("cpu"))
    metadata.target_logits_indices = torch.tensor([0, 1, 3, 5])
    metadata.bonus_logits_indices = torch.tensor([2, 4, 6, 7])
    asked = sampling([seed + n for n in range(4)])
    tokens = ForcedTokenSampler(Sampler())(metadata, None, rows(), asked).sampled_token_ids
    return [[token for token in row if token >= 0] for row in tokens.tolist()]


def one_by_one(seed: int) -> list[list[int]]:
    """Each request alone, as long as what is sampled is what was drafted."""
    logits, sampler, row, answers = rows(), Sampler(), 0, []
    for number, drafts in enumerate(DRAFTS):
        asked, tokens = sampling([seed + number]), []
        for place in range(len(drafts) + 1):
            step = sampler(logits[[row + place]], replace(asked)).sampled_token_ids
            tokens.append(int(step[0, 0]))
            # Not forced, or not what was drafted: the next step of the engine goes on from here.
            if place < len(drafts) and PERMITTED[row + place] != [drafts[place]]:
                break
        answers.append(tokens)
        row += len(drafts) + 1
    return answers


print(json.dumps([[with_drafts(seed), one_by_one(seed)] for seed in range(0, 200, 10)]))
