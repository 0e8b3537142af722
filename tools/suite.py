"""Prints the hashes of the suite as it is now, for conf/suite/frozen.yaml.

python -m tools.suite > conf/suite/frozen.yaml
"""

from pddlego_local.runner.config import hydra_for
from pddlego_local.runner.suite import NUMBER, part_sha256, suite, suite_sha256

ABOUT = "# What `python -m tools.suite` printed when each suite was frozen."


def main() -> None:
    with hydra_for(None):
        parts = {name: part_sha256(name) for name in suite().parts}
    print(ABOUT)
    print(f"{NUMBER}:")
    print(f"  sha256: {suite_sha256(parts)}")
    print("  parts:")
    for name, sha256 in parts.items():
        print(f"    {name}: {sha256}")


if __name__ == "__main__":
    main()
