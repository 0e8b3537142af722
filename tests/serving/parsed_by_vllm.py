"""Run by the serving environment's Python: what vLLM's own parser makes of command
lines.

Reads JSON: {"commands": [[argument, …], …]}. Prints JSON: by command its values as
text, the flags that the parser knows, those that it calls deprecated, and vLLM's
environment variables.
"""

import json
import sys

from vllm import envs
from vllm.entrypoints.launchers.cli_args import make_arg_parser
from vllm.utils.argparse_utils import FlexibleArgumentParser

parser = make_arg_parser(FlexibleArgumentParser())
values = [
    vars(parser.parse_args(command)) for command in json.load(sys.stdin)["commands"]
]
told = {
    "values": [
        {name: str(value) for name, value in command.items()} for command in values
    ],
    "flags": sorted(parser._option_string_actions),
    "deprecated": sorted(
        flag for action in parser._deprecated for flag in action.option_strings
    ),
    "variables": sorted(envs.environment_variables),
}
print(json.dumps(told))
