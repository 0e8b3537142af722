"""Runs one step as a separate process: `python -m tools.gpu_check.part NAME OUT
DEVICE`.

Exit codes: 0 done, 1 failed, 4 this machine cannot do it. The last line of the output
says why.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from pddlego_local.core.errors import PddlegoError
from tools.gpu_check import in_process, known_answers, on_server
from tools.gpu_check.findings import Findings, NotHere, Wrong
from tools.gpu_check.scale import Device, Setting, scale_for

CANNOT = 4
PARTS: dict[str, Callable[[Setting, Findings], None]] = {
    "preflight": known_answers.preflight,
    "nano": known_answers.nano,
    "weights": in_process.weights,
    "plain": on_server.plain,
    "invariance": on_server.invariance,
    "smollm2": in_process.smollm2,
    "pretrained": in_process.pretrained,
    "transformers": in_process.transformers,
    "tiles": in_process.tiles,
    "training": in_process.training,
}


def main(name: str, out: Path, device: Device) -> int:
    os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    setting = Setting(device, out, scale_for(device))
    try:
        PARTS[name](setting, Findings(out / f"{name}.jsonl"))
    except NotHere as absent:
        print(absent)
        return CANNOT
    except (PddlegoError, Wrong) as error:
        print(" ".join(str(error).split()))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))  # type: ignore[arg-type]
