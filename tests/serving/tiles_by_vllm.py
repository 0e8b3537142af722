"""Run by the serving environment's Python: which tiles vLLM takes with the table that
the environment names, as JSON.
"""

import json
import sys

import torch
from matmul_tiles import use_table
from vllm.model_executor.determinism import batch_invariant_configs as configs

DEFAULT = {"BLOCK_SIZE_M": 128}

use_table()
configs._TUNED_MATMUL_CONFIGS_FOR_DEVICE = (
    configs._BATCH_INVARIANT_MATMUL_TUNED_CONFIGS["hopper"]
)
configs._TUNED_MATMUL_CONFIGS_RESOLVED = True
asked = json.load(sys.stdin)
found = [
    configs._get_matmul_config(rows, n, k, torch.bfloat16, DEFAULT)
    for rows, n, k in asked
]
print(json.dumps(found))
