"""Templates that ask for today's date, as those of Llama 3.2, SmolLM3 and gpt-oss
do.
"""

from pathlib import Path

import pytest

from pddlego_local.core.nouns import Message, Prefix, Sampling
from pddlego_local.models.chat_template import DATE, dated_file
from pddlego_local.models.transformers import TransformersModel
from tests.models.asking import CPU, TOY

LLAMA = (
    "{%- if not date_string is defined %}{%- if strftime_now is defined %}"
    '{%- set date_string = strftime_now("%d %b %Y") %}{%- endif %}{%- endif %}'
)
SMOLLM = '{%- set date_string = strftime_now("%d %B %Y") -%}'
REST = (
    "Today: {{ date_string }}. {% for message in messages %}{{ message.content }}{%"
    " endfor %}"
)


@pytest.mark.parametrize("opening", [LLAMA, SMOLLM])
def test_every_day_is_the_same(
    opening: str, random_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "model"
    folder.mkdir()
    for file in random_llama.iterdir():
        (folder / file.name).symlink_to(file)
    assert dated_file(folder) is None
    (folder / "chat_template.jinja").unlink()
    (folder / "chat_template.jinja").write_text(opening + REST, encoding="utf-8")
    model = TransformersModel(weights=str(folder), engine=CPU)
    prefix = model.complete(
        (Message("user", "Go."),), TOY, Sampling(max_tokens=30), Prefix()
    ).prefix
    assert prefix is not None and model._loaded is not None
    assert model._loaded.tokenizer.decode(prefix.opening) == f"Today: {DATE}. Go."
    written = dated_file(folder)
    assert written is not None and written.read_text(encoding="utf-8").endswith(
        opening + REST
    )
    assert model._loaded.tokenizer.chat_template == written.read_text(encoding="utf-8")
