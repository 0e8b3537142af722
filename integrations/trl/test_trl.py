"""The environments play the table of rewards, and TRL's trainer uses them for two
steps.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from pddlego_trl import Editor, Formalizer
from train import main, tiny
from transformers import Qwen3ForCausalLM

from tests.rewards import WRONG_FILES, Row, groups


@pytest.mark.parametrize(("options", "table"), list(groups(actions="pddl")))
def test_calls_of_the_tools_earn_the_rewards_of_the_table(
    options: dict[str, Any], table: list[Row]
) -> None:
    given = {name: value for name, value in options.items() if name != "actions"}
    edits = given["method"] == "pddl_edit"
    environment = Editor(**given) if edits else Formalizer(**given)
    for row in table:
        environment.reset(game=row.game, prompt=[])
        for text in row.texts:
            if isinstance(environment, Editor):
                environment.submit_edits(text)
            else:
                files = json.loads(text)
                environment.submit_pddl(files["df"], files["pf"])
        assert environment.get_reward() == pytest.approx(sum(row.rewards))
        if row.outcome:
            assert row.outcome in environment._submit(row.texts[0])


def test_the_example_trains_for_two_steps(tmp_path: Path) -> None:
    log = main(str(tmp_path))
    assert [line["step"] for line in log if "loss" in line] == [1, 2]
    assert all("rewards/Formalizer/mean" in line for line in log if "loss" in line)


def test_the_trainer_learns_from_the_rewards_of_the_models_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both answers to each prompt are given: one has no plan, the other a plan that is
    refused.
    """
    _, tokenizer = tiny()
    calls = []
    for files in map(json.loads, WRONG_FILES[2:]):
        arguments = {"domain": files["df"], "problem": files["pf"]}
        call = json.dumps({"name": "submit_pddl", "arguments": arguments})
        calls.append(f"<tool_call>\n{call}\n</tool_call><|im_end|>")
    answers = tokenizer(calls, padding=True, return_tensors="pt")["input_ids"]

    def generate(self: Any, input_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        return torch.cat([input_ids, answers], dim=1)

    monkeypatch.setattr(Qwen3ForCausalLM, "generate", generate)
    log = [line for line in main(str(tmp_path), longest=2000) if "loss" in line]
    for line in log:
        assert line["rewards/Formalizer/mean"] == pytest.approx((0.2 + 0.4) / 2)
        assert line["tools/call_frequency"] == 1
        assert line["tools/failure_frequency"] == 0
        assert line["grad_norm"] > 0
