"""The action schemas that the prompt gives: names and parameters, as a grammar needs them."""

from dataclasses import dataclass

from pddlego_local.core.nouns import Action
from pddlego_local.decoding.grammars.terminals import in_any_case, one_of
from pddlego_local.decoding.layout import Layout, line_of, list_of
from pddlego_local.decoding.staged.declarations import type_of
from pddlego_local.pddl.faults import FaultLog
from pddlego_local.pddl.typed_list import read_typed_list


@dataclass(frozen=True)
class ActionSchema:
    """An action's name and its parameters as (variable, type); `written` is the prompt's spelling
    of them, with single blanks."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    written: str

    @classmethod
    def of(cls, action: Action) -> "ActionSchema":
        block = list_of(action.parameters)
        entries = read_typed_list(block.items, FaultLog("domain", "")) or []
        typed = tuple((entry.word.text, type_of(entry)) for entry in entries)
        return cls(action.name, typed, line_of(block))

    def header(self, layout: Layout) -> str:
        """A terminal for what follows "(:action": "move :parameters (?from - location …)", exactly
        these names; where the layout leaves no choice, as the prompt spells it."""
        if layout != "any":
            return f'" {self.name}" _PARAMETERS " {self.written}"'
        pieces = [f"_B1 {in_any_case(self.name)} _PARAMETERS _LIST"]
        for number, (variable, kind) in enumerate(self.parameters):
            following = self.parameters[number + 1 : number + 2]
            dash = f'_B1 "-" _B1 {in_any_case(kind)}'
            same = bool(following) and following[0][1] == kind  # "?a ?b - room" says the same
            pieces.append("_B1" if number else "")
            pieces.append(f"{one_of([variable])} {f'({dash})?' if same else dash}")
        return " ".join([*pieces, '_B ")"'])
