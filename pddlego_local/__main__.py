"""Lets `python -m pddlego_local` run the command `pddlego`."""

from pddlego_local.cli import main

main()
