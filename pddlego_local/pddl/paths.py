"""Recognizes a path that was given in place of the text of a file."""

import re

_PATH = re.compile(
    r"(?:[A-Za-z]:|~|\.{1,2})?[\\/]?(?:[^\\/()\n;]+[\\/])*[^\\/()\n;]+"
    r"\.(?:pddl|txt|lisp|plan|soln|md|json|ya?ml)|(?:[A-Za-z]:|~|\.{1,2})?[\\/][^()\n;\s]+"
    r"|file:[^()\n;\s]+|[\w.-]+(?:\\[\w.-]+)+",
    re.IGNORECASE,
)
_LONGEST = 1000  # characters


def path_in_place_of_text(text: str) -> str:
    """Returns a sentence that says that a text is a path and that the content is
    needed, or "" if the text is no path.
    """
    path = text.strip().strip("\"'`")
    if len(text) > _LONGEST or not _PATH.fullmatch(path):
        return ""
    return f"`{path}` is a path: give the content of the file in its place"
