"""One module per subcommand of `pddlego`: `HELP`, `add_arguments`, `carry_out`."""
