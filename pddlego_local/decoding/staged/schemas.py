"""The action schemas that the prompt gives: names and parameters, as a grammar needs them."""

from dataclasses import dataclass

from pddlego_local.core.nouns import Action
from pddlego_local.decoding.grammars.terminals import in_any_case, one_of
from pddlego_local.decoding.layout import Layout, on_one_line
from pddlego_local.decoding.staged.declarations import type_of
from pddlego_local.decoding.staged.reading import typed_names


@dataclass(frozen=True)
class ActionSchema:
    """An action's name and its parameters as (variable, type); `told` is how the prompt has them,
    with single blanks."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    told: str

    @classmethod
    def of(cls, action: Action) -> "ActionSchema":
        parameters = typed_names(action.parameters)
        told = on_one_line(action.parameters)
        typed = tuple((entry.word.text, type_of(entry)) for entry in parameters)
        return cls(action.name, typed, told)

    def header(self, layout: Layout) -> str:
        """A terminal for what follows "(:action": "move :parameters (?from - location …)", exactly
        these names; where the layout leaves no choice, as the prompt spells it."""
        if layout != "any":
            return f'" {self.name}" _PARAMETERS " {self.told}"'
        pieces = [f"_B1 {in_any_case(self.name)} _PARAMETERS _LIST"]
        for number, (variable, kind) in enumerate(self.parameters):
            following = self.parameters[number + 1 : number + 2]
            dash = f'_B1 "-" _B1 {in_any_case(kind)}'
            same = bool(following) and following[0][1] == kind  # "?a ?b - room" says the same
            pieces.append("_B1" if number else "")
            pieces.append(f"{one_of([variable])} {f'({dash})?' if same else dash}")
        return " ".join([*pieces, '_B ")"'])
