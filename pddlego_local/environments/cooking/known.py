"""What a report shows of the house."""

from pddlego_local.environments.textworld_express.known import known as known
