"""`python -m pddlego_local` is the command `pddlego`."""

from pddlego_local.cli import main

main()
