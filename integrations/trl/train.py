"""Trains a tiny model with random weights for two steps on the CPU with TRL's GRPO.

    python integrations/trl/train.py FOLDER

The model learns nothing in two steps: replace `tiny` by your own model and train for
more steps.
"""

import json
import sys
from typing import Any

from datasets import Dataset
from pddlego_trl import Formalizer, train_rows
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

PROMPT = "Answer with the tool submit_pddl.\n\n"
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def tiny() -> tuple[Any, Any]:
    """Returns a model of two layers whose tokens are bytes, and its tokenizer.

    The tokenizer has Qwen3's chat template, so tools are called as in Qwen3.
    """
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytewise = Tokenizer(models.BPE({byte: n for n, byte in enumerate(alphabet)}, []))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    bytewise.decoder = decoders.ByteLevel()
    bytewise.add_special_tokens(SPECIAL)
    bytewise.add_tokens(["<tool_call>", "</tool_call>"])
    tokenizer: Any = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=bytewise, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    tokenizer.chat_template = qwen3_chat_template
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        head_dim=16,
        num_attention_heads=2,
        num_key_value_heads=2,
    )
    return Qwen3ForCausalLM(config), tokenizer


def main(folder: str, longest: int = 16) -> list[dict[str, Any]]:
    """Trains the model and returns the trainer's log. Answers have at most `longest`
    tokens.
    """
    model, tokenizer = tiny()
    settings = GRPOConfig(
        folder,
        max_steps=2,
        per_device_train_batch_size=2,
        num_generations=2,
        use_cpu=True,
        max_completion_length=longest,
        max_tool_calling_iterations=1,
        logging_steps=1,
        report_to="none",
        save_strategy="no",
    )
    rows = Dataset.from_list(list(train_rows(4, PROMPT, environment__rooms=4)))
    trainer = GRPOTrainer(
        model=model, args=settings, train_dataset=rows, processing_class=tokenizer,
        environment_factory=lambda: Formalizer(environment__rooms=4),
    )  # fmt: skip
    trainer.train()
    return list(trainer.state.log_history)


if __name__ == "__main__":
    for line in main(sys.argv[1]):
        print(json.dumps(line))
