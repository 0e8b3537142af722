"""At a large vocabulary the decoder's parser meets a limit of steps for one mask.

Beyond it nothing but the end of the text is permitted: answers stop in mid-word,
without an error.
"""

import json

from pddlego_local.decoding.grammars.lark_text import load
from tools.bench.mask import decoder_tokenizer, mask_times
from tools.bench.solve import coin_task, house_task


def test_the_decoder_gives_up_nowhere_in_an_answer_with_many_names() -> None:
    tokenizer = decoder_tokenizer()
    for domain, problem in (coin_task(11), house_task(30, 60)):
        both = json.dumps({"df": domain, "pf": problem})
        assert mask_times(load("syntax"), both, tokenizer).tokens > 300
        alone = json.dumps({"pf": problem})
        assert mask_times(load("problem_syntax"), alone, tokenizer).tokens > 100
