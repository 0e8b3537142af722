"""Cards tell what a model was trained on, whatever the environments were."""

from pathlib import Path

import pytest
from pddlego_training.card import card
from pddlego_training.progress import Progress
from pddlego_training.settings import compose_settings
from rich.console import Console

from pddlego_local.models.card import known_texts, learned


@pytest.mark.parametrize(
    ("name", "environment", "known", "words"),
    [
        (
            "nano",
            "coin",
            {"environment": "coin", "method.variant": "compact"},
            "CoinCollector: the answers",
        ),
        (
            "nano_edit",
            "alfworld",
            {"environment": "alfworld", "method.prompts": "pddlego"},
            "floor",
        ),
        (
            "nano_worlds",
            "described",
            {"environment": "described", "method.prompts": "formalizer"},
            "mystery",
        ),
        (
            "nano_edit",
            "[coin,alfworld]",
            {"method.prompts": "pddlego"},
            "ALFWorld: the answers",
        ),
        ("nano_edit", "alfworld", {"environment": "alfworld"}, "PDDL-edit"),
    ],
)
def test_the_top_of_a_card_names_what_all_questions_had(
    name: str, environment: str, known: dict[str, str], words: str, tmp_path: Path
) -> None:
    settings = compose_settings(name, [f"environment={environment}"])
    progress = Progress(tmp_path / "progress.jsonl", Console(quiet=True))
    progress.report("data", 0, {"questions": 3, "device": "a CPU", "bf16": True})
    progress.report("played", 0, {"games": "one=1", "rung": "free", "won": 2, "of": 3})
    text = card(settings, 3_000_000, progress, {"a map"}, "")
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    found = learned(tmp_path)
    assert known.items() <= found.items() and found["decoding.reason"] == "none"
    assert ("environment" in found) == ("environment" in known)
    assert bool(known_texts(tmp_path)) is ("described" in environment)
    assert words in text and "| 0 | one=1 | free | 2 of 3" in text
