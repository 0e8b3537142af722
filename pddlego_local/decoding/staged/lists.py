"""Typed lists as a grammar writes them: "a b - room c", to the closing bracket.

All of it is one terminal, for the blank behind a name may begin its type or the next name.
"""

from pddlego_local.decoding.grammars.builder import Rules


def typed_list(rules: Rules, name: str, kind: str, most: int) -> str:
    """Names of the terminal `name`, each perhaps with a type; `name` may be ""."""
    entries = " | ".join([f"_B1 {name} (_DASH {kind})?", *rules.comment])
    return f"({entries}) ~ 0 .. {max(most, 0)} _C" if name else "_C"


def rest_of_list(rules: Rules, name: str, kind: str, most: int, typed: bool) -> str:
    """What may follow the last entry of such a list, which has a type already or not."""
    return f"{'' if typed else f'(_DASH {kind})?'} {typed_list(rules, name, kind, most)}"
