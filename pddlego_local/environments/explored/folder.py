"""The files of a partly seen world: a folder with a domain, `world.yaml`, and problems
or `draw.py`.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from pddlego_local.core.errors import ConfigError

FILE = "world.yaml"
DOMAIN = "domain.pddl"
DRAW = "draw.py"


def texts_of(folder: Path) -> dict[str, str]:
    """Returns the texts of the files by name. Raises ConfigError for one that cannot be
    read.
    """
    problems = [path for path in folder.glob("*.pddl") if path.name != DOMAIN]
    try:
        return {
            path.name: path.read_text(encoding="utf-8")
            for path in (folder / FILE, folder / DOMAIN, *problems, *folder.glob(DRAW))
        }
    except OSError as error:
        raise ConfigError(
            f"{folder} holds no partly seen world: {error.strerror}:"
            f" {error.filename}; it needs {DOMAIN} and {FILE}."
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(
            f"{folder}: {FILE}, {DRAW} and all files of PDDL must be texts in UTF-8;"
            " save them so."
        ) from None


def hashes_of(files: Mapping[str, str]) -> dict[str, str]:
    """Returns the hash of each file, by name."""
    return {
        name: hashlib.sha256(text.encode()).hexdigest()
        for name, text in sorted(files.items())
    }
