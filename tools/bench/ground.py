"""Prints the ground task of Fast Downward's translator as JSON: a script that is run by
path.

Like planner/worker.py it imports the translator, which is GPL-3.0, in a process of its
own. Usage: ground.py PACKAGE_FOLDER MOST_ACTIONS < [domain, problem] as JSON
"""

import contextlib
import io
import json
import sys
from typing import Any


def main() -> None:
    sys.path.insert(0, sys.argv[1])
    from fast_downward.translate import axiom_rules, instantiate, normalize, options
    from fast_downward.translate.pddl_parser import lisp_parser, parsing_functions

    options.set_options(["domain", "problem"])
    with contextlib.redirect_stdout(io.StringIO()):
        texts = (io.StringIO(text, newline=None) for text in json.load(sys.stdin))
        task = parsing_functions.parse_task(*map(lisp_parser.parse_nested_list, texts))
        normalize.normalize(task)
        _, fluents, actions, goal, axioms, _ = instantiate.explore(task)
        layers = {}
        if len(actions) <= int(sys.argv[2]):
            axioms, layers = axiom_rules.handle_axioms(
                actions, axioms, goal or [], "min"
            )
    if len(actions) > int(sys.argv[2]):
        print("null")
        return
    found = {
        "fluents": [fact(fluent) for fluent in fluents],
        "goal": None if goal is None else literals(goal),
        "actions": [ground_action(task, action) for action in actions],
        "axioms": [
            [layers[axiom.effect], literals(axiom.condition), fact(axiom.effect)]
            for axiom in axioms
        ],
    }
    print(json.dumps(found))


def ground_action(task: Any, action: Any) -> list[Any]:
    return [
        action.name,
        literals(action.precondition),
        effects(action.add_effects),
        effects(action.del_effects),
        action.cost if task.use_min_cost_metric else 1,
    ]


def fact(literal: Any) -> list[str]:
    return [literal.predicate, *literal.args]


def literals(condition: Any) -> list[Any]:
    return [[literal.negated, fact(literal)] for literal in condition]


def effects(pairs: Any) -> list[Any]:
    return [[literals(condition), fact(atom)] for condition, atom in pairs]


if __name__ == "__main__":
    main()
