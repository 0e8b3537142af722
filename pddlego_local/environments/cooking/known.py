"""What a report shows of the house."""

from pddlego_local.environments.textworld_express.house_map import known as known
