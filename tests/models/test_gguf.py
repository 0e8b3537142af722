"""GGUF files: made into a plain model folder once, which answers as the model they were
made of.
"""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from pddlego_local.core.errors import ConfigError, MissingPart
from pddlego_local.models import gguf as subject
from pddlego_local.models.cache import sha256_of
from pddlego_local.models.weights import identity_of, locate

TEXT = 'You see 2 doors.<|im_end|>\n{"df": "(define (domain d12)'
BLOCK = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}


@pytest.fixture
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write_gguf(
    folder: Path, file: Path, *, arch: str = "llama", pre: str = "gpt-2", drop: str = ""
) -> Path:
    """The model of a folder as llama.cpp's converter writes it, without the tensors
    `drop`.
    """
    import gguf
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    config = model.config
    writer = gguf.GGUFWriter(file, arch)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    add_tokenizer(writer, tokenizer, pre)
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}
    weights = model.state_dict()
    names = {
        "token_embd": "model.embed_tokens",
        "output_norm": "model.norm",
        "output": "lm_head",
    }
    for layer in range(config.num_hidden_layers):
        for ours, theirs in BLOCK.items():
            names[f"blk.{layer}.{ours}"] = f"model.layers.{layer}.{theirs}"
    for ours, theirs in names.items():
        if ours != drop:
            tensor = weights[f"{theirs}.weight"].numpy()
            if count := heads.get(
                ours.rpartition(".")[2]
            ):  # llama.cpp turns the halves of a head
                halves = tensor.reshape(count, 2, -1, tensor.shape[1])
                tensor = halves.swapaxes(1, 2).reshape(tensor.shape)
            writer.add_tensor(f"{ours}.weight", tensor.copy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def add_tokenizer(writer: Any, tokenizer: Any, pre: str) -> None:
    import json

    known = json.loads(tokenizer.backend_tokenizer.to_str())
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokenizer.convert_ids_to_tokens(range(len(tokenizer))))
    added = tokenizer.get_added_vocab().values()
    writer.add_token_types(
        [3 if token in added else 1 for token in range(len(tokenizer))]
    )
    writer.add_token_merges([" ".join(pair) for pair in known["model"]["merges"]])
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_chat_template(tokenizer.chat_template)


def logits(folder: Path) -> tuple[list[int], Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokens = tokenizer.encode(TEXT)
    with torch.no_grad():
        return tokens, model(torch.tensor([tokens])).logits


@pytest.mark.usefixtures("_own_cache")
def test_the_folder_made_of_a_file_answers_as_the_model_did(
    random_llama: Path, tmp_path: Path
) -> None:
    file = write_gguf(random_llama, tmp_path / "tiny.gguf")
    made = locate(str(file))
    assert identity_of(str(file), None, made)["gguf_sha256"] == sha256_of(file)
    (tokens, expected), (same, found) = logits(random_llama), logits(made)
    assert tokens == same
    assert found.allclose(expected, atol=0.05)  # bfloat16
    assert expected.std() > 0.1
    first = made.stat().st_mtime_ns
    file.rename(tmp_path / "another name.gguf")
    assert locate(str(tmp_path / "another name.gguf")) == made
    assert made.stat().st_mtime_ns == first


@pytest.mark.usefixtures("_own_cache")
def test_digits_are_split_where_the_vocabulary_was_learned_so(
    random_llama: Path, tmp_path: Path
) -> None:
    from transformers import AutoTokenizer

    made = locate(str(write_gguf(random_llama, tmp_path / "digits.gguf", pre="smollm")))
    tokenizer: Any = AutoTokenizer.from_pretrained(made)
    split = tokenizer.backend_tokenizer.pre_tokenizer.pre_tokenize_str("room 12")
    assert [piece for piece, _ in split] == ["room", "Ġ", "1", "2"]


@pytest.mark.usefixtures("_own_cache")
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"arch": "rwkv6"}, r"cannot read .*rwkv6"),
        (
            {"drop": "blk.1.ffn_up"},
            r"lacks 1 of its model's tensors, such as .*up_proj",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_told_in_one_sentence(
    random_llama: Path, tmp_path: Path, changes: dict[str, str], told: str
) -> None:
    file = write_gguf(random_llama, tmp_path / "odd.gguf", **changes)
    with pytest.raises(ConfigError, match=told):
        locate(str(file))
    assert not subject.folder_of(sha256_of(file)).exists()


@pytest.mark.usefixtures("_own_cache")
@pytest.mark.parametrize("kept", [0, 100, 40_000])
def test_a_damaged_file_is_told_too(
    random_llama: Path, tmp_path: Path, kept: int
) -> None:
    file = write_gguf(random_llama, tmp_path / "cut.gguf")
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(ConfigError, match=r"cut\.gguf"):
        locate(str(file))


@pytest.mark.usefixtures("_own_cache")
@pytest.mark.parametrize("package", ["gguf", "accelerate"])
def test_without_the_packages_the_remedy_is_told(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name: None if name == package else there("json"),
    )
    file = tmp_path / "a.gguf"
    file.write_bytes(b"GGUF")
    with pytest.raises(
        MissingPart, match=rf"package {package}; run .*pddlego_local\[gguf\]"
    ):
        locate(str(file))


def test_no_such_file_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no file .*b\.gguf"):
        locate(str(tmp_path / "b.gguf"))
