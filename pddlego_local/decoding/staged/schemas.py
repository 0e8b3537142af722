"""The action schemas that the prompt gives: names and parameters, as a grammar needs them."""

from dataclasses import dataclass

from pddlego_local.core import Action
from pddlego_local.decoding.grammars.terminals import in_any_case, one_of
from pddlego_local.decoding.staged.declarations import type_of
from pddlego_local.decoding.staged.reading import typed_names


@dataclass(frozen=True)
class ActionSchema:
    """An action's name and its parameters as (variable, type)."""

    name: str
    parameters: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, action: Action) -> "ActionSchema":
        parameters = typed_names(action.parameters)
        return cls(action.name, tuple((entry.word.text, type_of(entry)) for entry in parameters))

    @property
    def header(self) -> str:
        """A terminal for "(:action move :parameters (?from - location …)", exactly these names."""
        pieces = [f'_B "(" {in_any_case(":action")} _B1 {in_any_case(self.name)}']
        pieces.append(f'_B1 {in_any_case(":parameters")} _B "(" _B')
        for number, (variable, kind) in enumerate(self.parameters):
            following = self.parameters[number + 1 : number + 2]
            dash = f'_B1 "-" _B1 {in_any_case(kind)}'
            same = bool(following) and following[0][1] == kind  # "?a ?b - room" says the same
            pieces.append("_B1" if number else "")
            pieces.append(f"{one_of([variable])} {f'({dash})?' if same else dash}")
        return " ".join([*pieces, '_B ")"'])
