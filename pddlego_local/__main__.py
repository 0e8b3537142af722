"""Lets `python -m pddlego_local` run the command `pddlego`, which starts here too."""

import sys


def main() -> None:
    try:
        from pddlego_local import cli
    except KeyboardInterrupt:  # the imports take a moment
        sys.exit(130)  # cli.INTERRUPTED
    cli.main()


if __name__ == "__main__":
    main()
