"""One module per subcommand of `pddlego`, with the functions `add_arguments` and
`carry_out`.
"""
