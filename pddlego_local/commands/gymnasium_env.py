"""The former name of the module that registers the games with gymnasium."""

from pddlego_local.api.gymnasium_env import GameEnv as GameEnv
