"""The decoding ladder: the constraint of each rung on each form of answer.

    free        no constraint
    json        one JSON object with exactly the form's keys, in their order
    syntax      the same object; its strings are PDDL, or match the form's patterns
    signatures  only the environment's actions, with their exact parameters; the problem
                names the answer's domain
    typed       only declared names, with the declared number and types of arguments
    grounded    only names that the prompt shows; a goal that is not already true

For an answer with a domain and a problem, each rung excludes by construction something
that the rung below allows. For other forms, neighbouring rungs may be the same
(`LADDER`). The prompt and the keys of the JSON object are the same on all rungs. The
three rungs above "syntax" use the question's `GrammarContext`. The layout of an answer
does not depend on the rung (`layout`).
"""

from collections.abc import Callable

from pddlego_local.decoding.forms import FORMS, PDDL, Fields, Form
from pddlego_local.decoding.grammars.lark_text import load
from pddlego_local.decoding.question import GrammarContext
from pddlego_local.decoding.rungs import RUNGS
from pddlego_local.decoding.schemas import command, keys, move, patterns, seen
from pddlego_local.decoding.session import Constraint, at_once
from pddlego_local.decoding.settings import Decoding
from pddlego_local.decoding.staged.edits import edit
from pddlego_local.decoding.staged.pddl import pddl, signatures
from pddlego_local.decoding.unmasked import (
    rest_of_strings,
    with_loops_stopped,
    without_watch,
)

Build = Callable[[Decoding, Form[Fields], GrammarContext], Constraint]

EMPTY = GrammarContext()


def nothing(
    decoding: Decoding, form: Form[Fields], context: GrammarContext
) -> Constraint:
    free = at_once(None)
    return with_loops_stopped(free, _no_grammar) if decoding.stops_loops else free


def _no_grammar(_before: str) -> None:
    return None


def strings(
    decoding: Decoding, form: Form[Fields], context: GrammarContext
) -> Constraint:
    """Constrains an answer to the keys of the form, whose values are strings."""
    whole = keys(decoding, form, context)
    if not decoding.stops_loops:
        return whole
    return with_loops_stopped(whole, rest_of_strings(form.keys, decoding.layout))


def lark(decoding: Decoding, form: Form[Fields], context: GrammarContext) -> Constraint:
    """Constrains the strings of the JSON object to PDDL, by the form's own grammar."""
    return at_once(load(form.grammar, decoding.layout))


# fmt: off
LADDER: dict[str, tuple[Build, ...]] = {
    #           free     json     syntax    signatures  typed     grounded
    "pddl":    (nothing, strings, lark,     signatures, pddl,     pddl),
    "domain":  (nothing, strings, lark,     signatures, pddl,     pddl),
    "problem": (nothing, strings, lark,     signatures, pddl,     pddl),
    "edit":    (nothing, keys,    patterns, patterns,   edit,     edit),
    "command": (nothing, keys,    patterns, command,    command,  command),
    "move":    (nothing, keys,    patterns, move,       move,     move),
    "seen":    (nothing, keys,    patterns, patterns,   patterns, seen),
    "choice":  (nothing, keys,    patterns, patterns,   patterns, patterns),
    "goals":   (nothing, keys,    patterns, patterns,   patterns, patterns),
    "text":    (nothing, keys,    patterns, patterns,   patterns, patterns),
}
# fmt: on

if missing := {form.name for form in FORMS} ^ LADDER.keys():
    raise TypeError(f"decoding.ladder: forms and LADDER differ in {sorted(missing)}")
for _name, _row in LADDER.items():
    if len(_row) != len(RUNGS):
        raise TypeError(
            f"decoding.ladder: {_name!r} has {len(_row)} of {len(RUNGS)} rungs"
        )


def constraint_for(
    decoding: Decoding,
    form: Form[Fields] = PDDL,
    situation: GrammarContext = EMPTY,
) -> Constraint:
    """Returns the constraint of these settings on an answer of a form."""
    place = list(RUNGS).index(decoding.rung)
    build = LADDER[form.name][place]
    constraint = build(decoding, form, situation)
    if constraint.in_stages and not decoding.stops_loops:
        return without_watch(constraint)
    return constraint
