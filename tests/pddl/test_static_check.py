"""Each fault class on a small pair: its kind, its file, its line, and what the message names."""

import pytest

from pddlego_local.pddl.check import Check, check

DOMAIN = """(define (domain rooms)
  (:requirements :strips :typing)
  (:types room direction - object
          kitchen - room)
  (:constants west east - direction)
  (:predicates (at ?r - room) (door ?a ?b - room ?d - direction)
               (open ?a ?b - room) (seen ?r - room))
  (:action move
    :parameters (?from ?to - room ?d - direction)
    :precondition (and (at ?from) (door ?from ?to ?d) (open ?from ?to))
    :effect (and (not (at ?from)) (at ?to) (seen ?to)))
  (:action push
    :parameters (?a ?b - room)
    :effect (open ?a ?b))
)
"""
PROBLEM = """(define (problem p1)
  (:domain rooms)
  (:objects k - kitchen
            hall - room)
  (:init (at k)
         (door k hall west))
  (:goal (at hall))
)
"""


def with_change(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
    return text.replace(old, new)


def findings(result: Check) -> list[tuple[str, str, int]]:
    return [(fault.kind, fault.file, fault.line) for fault in result.faults]


def test_right_pair_has_no_fault() -> None:
    assert check(DOMAIN, PROBLEM) == Check(True, True, ())


SYNTAX = [  # (file, old, new, line of the fault, what its message names)
    ("domain", "(define (domain rooms)", "(domain rooms)", 1, "`(define (domain NAME)`"),
    ("domain", "(domain rooms)", "(domain my rooms)", 1, "exactly one name"),
    ("domain", ":typing", ":fluents", 2, "`:fluents`"),
    ("domain", "(:types", "(types", 3, "`(:types …)`"),
    ("domain", "(:types room", "(:types (room)", 3, "`(room)`"),
    ("domain", "?r - room) (door", "r - room) (door", 6, "`?r`"),
    ("domain", "?b - room ?d - direction)\n", "?b - room ?d -direction)\n", 6, "`- direction`"),
    ("domain", "(seen ?r - room)", "seen", 7, "`seen`"),
    ("domain", ":parameters (?a ?b - room)", ":parameters (?a ?b -)", 13, "type is missing"),
    ("domain", "?a ?b - room)\n    :e", "?a ?b - (either room kitchen))\n    :e", 13, "either"),
    ("domain", "(and (at ?from) (door", "((at ?from) (door", 10, "`(and"),
    ("domain", "(at ?from) (door", "(at (?from)) (door", 10, "`(?from)`"),
    ("domain", "(at ?from) (door", "(not at ?from) (door", 10, "`not`"),
    ("domain", "(at ?from) (door", "at (door", 10, "`(at …)`"),
    ("domain", "(at ?from) (door", "(forall ?r (at ?r)) (door", 10, "`forall` needs a list"),
    ("domain", "(at ?from) (door", "(imply (at ?from)) (door", 10, "`imply`"),
    ("domain", "(at ?from) (door", "(>= (at ?from) 2) (door", 10, "only names"),
    ("domain", "(at ?to) (seen", "(or (at ?to)) (seen", 11, "only names"),
    ("domain", "(at ?to) (seen", "(when (at ?to)) (seen", 11, "`(when (condition) (effect))`"),
    ("domain", "(at ?to) (seen", "() (at ?to) (seen", 11, "`()`"),
    ("domain", "(at ?to) (seen", "(increase (fuel) 1) (seen", 11, "total-cost"),
    ("domain", "(at ?to) (seen", "(increase (total-cost) 1.5) (seen", 11, "`1.5`"),
    ("domain", ":effect (open ?a ?b)", ":effect (increase (total-cost) 1)", 14, "whole effect"),
    ("domain", ":effect (open ?a ?b)", "", 12, "has no `:effect`"),
    ("domain", ":effect (open ?a ?b)", ":effect (open ?a ?b) (at ?a)", 14, "`(and … …)`"),
    ("domain", ":effect (open ?a ?b)", ":effects (open ?a ?b)", 14, "`:effects`"),
    ("domain", "  (:action push", "  (:predicates (x))\n  (:action push", 12, "`:predicates`"),
    ("domain", "(:action push", "(:durative-action push", 12, "`:durative-action`"),
    ("domain", "(seen ?to)))\n", "(seen ?to))\n", 8, "`(:action move` is never closed"),
    ("domain", "(seen ?to)))\n", "(seen ?to))))\n", 11, "too early"),
    ("problem", "(problem p1)", "(problem)", 1, "exactly one name"),
    ("problem", "\n  (:domain rooms)", "", 1, "`:domain`"),
    ("problem", "(:goal (at hall))", "", 1, "`:goal`"),
    ("problem", "(:goal (at hall))", "(:goal (at hall) (at k))", 7, "`and`"),
    ("problem", "(:goal (at hall))", "(:goal (at hall)) (:objects x)", 7, "`:objects`"),
    ("problem", "(:goal (at hall))", "(:goal (at hall)) (:metric maximize (m))", 7, "metric"),
    ("problem", "(:init (at k)", "(:init (and (at k))", 5, "only names"),
    ("problem", "(:init (at k)", "(:init at", 5, "`at`"),
    ("problem", "(:init (at k)", "(:init (= k hall)", 5, "equal"),
    ("problem", "(:init (at k)", "(:init (= (f) -1)", 5, "`-1`"),
    ("problem", "(at k)\n", "(at k)\\n\n", 5, "`\\n`"),
    ("problem", "hall - room)", "hall - (either room kitchen))", 4, "either"),
    ("problem", "(at hall))\n)", "(at hall))\n", 1, "never closed"),
    ("problem", "(at hall))\n)", "(at hall))\n) done", 8, "`done`"),
    ("problem", "(at hall))\n)", "(at hall))\n))", 8, "`)`"),
    ("problem", "(define", "```pddl\n(define", 1, "```pddl"),
    ("problem", "(at k)\n", "(at k)é\n", 5, "ASCII"),
]

SYMBOLS = [
    ("domain", "(:types room", "(:types number room", 3, "`number`"),
    ("domain", "west east - direction", "west east - way", 5, "`way`"),
    ("domain", "west east - d", "west west - d", 5, "`west`"),
    ("domain", "(at ?from) (door", "(in ?from) (door", 10, "`in`"),
    ("domain", "(at ?from) (door", "(room ?from) (door", 10, "type `room`"),
    ("domain", "(at ?from) (door", "(at ?where) (door", 10, "`?where`"),
    ("domain", "(at ?from) (door", "(at from) (door", 10, "`?from`"),
    ("domain", "(at ?from) (door", "(at hall) (door", 10, "`:constants`"),
    ("domain", "(at ?from) (door", "(at cellar) (door", 10, "`cellar`"),
    ("domain", "(at ?from) (door", "(at ?from ?to) (door", 10, "1 parameter but is used with 2"),
    ("domain", "(at ?to) (seen", "(at) (seen", 11, "1 parameter but is used with 0"),
    ("domain", "(at ?to) (seen", "(when (was ?to) (at ?to)) (seen", 11, "`was`"),
    ("domain", "(:action push", "(:derived (seen ?r) (at ?r)) (:action push", 11, "`seen`"),
    ("problem", "(:domain rooms)", "(:domain house)", 2, "`rooms`"),
    ("problem", "hall - room", "hall - chamber", 4, "unknown type `chamber`"),
    ("problem", "hall - room", "hall hall - room", 4, "`hall` is declared twice"),
    ("problem", "hall - room", "hall - room west", 4, "`west`"),
    ("problem", "(at k)\n", "(in k)\n", 5, "`in`"),
    ("problem", "(at k)\n", "(at attic)\n", 5, "`attic`"),
    ("problem", "(at k)\n", "(at ?k)\n", 5, "`?k`"),
    ("problem", "(at k)\n", "(at k k)\n", 5, "1 parameter but is used with 2"),
    ("problem", "(at k)\n", "(at k) (not (at k))\n", 5, "both true and false"),
    ("problem", "(at k)\n", "(at k) (= (f) 1) (= (f) 2)\n", 5, "contradicts"),
    ("problem", "(:goal (at hall))", "(:goal (at attic))", 7, "`attic`"),
    ("problem", "(:goal (at hall))", "(:goal (exists (?r - room) (in ?r)))", 7, "`in`"),
]

WARNINGS = [
    ("domain", "room direction - object", "room direction - object - room", 3, "`- room`"),
    ("domain", "kitchen - room", "kitchen - kitchen2 kitchen2 - kitchen", 4, "its own supertype"),
    ("domain", "(seen ?r - room)", "(seen ?r - place)", 7, "unknown type `place`"),
    ("domain", "(door ?a ?b -", "(door ?a) (door ?a ?b -", 6, "`door` is declared twice"),
    ("domain", "(?a ?b - room)", "(?a ?b - chamber)", 13, "unknown type `chamber`"),
    ("domain", "(?a ?b - room)", "(?a ?b ?a - room)", 13, "`?a`"),
    ("domain", ":effect (open ?a ?b)", ":effect ()", 12, "`push` has no effect"),
    ("domain", ":effect (open ?a ?b)", ":effect (and)", 12, "`push` has no effect"),
    ("domain", "(:action push", "(:action move", 12, "`move` is defined twice"),
    ("domain", "(at ?to) (seen", "(at ?from) (seen", 11, "adds and deletes"),
    ("domain", "(door ?from ?to ?d) (open", "(door ?from ?d ?d) (open", 10, "`direction`"),
    ("domain", "(at ?from) (door", "(seen ?from) (forall (r - room) (at r)) (door", 10, "`?r`"),
    ("problem", "hall - room", "hall -room", 4, "`- room`"),
    ("problem", "hall - room", "hall - room kitchen", 4, "`kitchen` is the name of a type"),
    ("problem", "(at k)\n", "(at k) (not (at hall))\n", 5, "not listed is false"),
    ("problem", "(door k hall west)", "(door k west hall)", 6, "`hall` has the type `room`"),
    ("problem", "(:goal (at hall))", "(:goal (at east))", 7, "`east` has the type `direction`"),
    ("problem", "(:goal (at hall))", "(:goal (at k))", 7, "already holds"),
    ("problem", "(:goal (at hall))", "(:goal (and))", 7, "already holds"),
    ("problem", "(:goal (at hall))", "(:goal (door hall k east))", 7, "no action can make"),
    ("problem", "(:goal (at hall))", "(:goal (not (door k hall west)))", 7, "no action can make"),
]


def changed(file: str, old: str, new: str) -> tuple[str, str]:
    if file == "domain":
        return with_change(DOMAIN, old, new), PROBLEM
    return DOMAIN, with_change(PROBLEM, old, new)


FOUND = {"syntax": (False, None), "symbol": (True, False), "warning": (True, True)}


@pytest.mark.parametrize(
    ("kind", "file", "old", "new", "line", "names"),
    [
        (kind, *row)
        for kind, rows in zip(FOUND, (SYNTAX, SYMBOLS, WARNINGS), strict=True)
        for row in rows
    ],
)
def test_each_fault_is_found_and_named(
    kind: str, file: str, old: str, new: str, line: int, names: str
) -> None:
    result = check(*changed(file, old, new))
    assert (result.syntax, result.symbols) == FOUND[kind], [str(f) for f in result.faults]
    assert any(
        (fault.kind, fault.file, fault.line) == (kind, file, line) and names in fault.message
        for fault in result.faults
    ), [str(fault) for fault in result.faults]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(open ?a ?b - room)", "(lit ?r) (open ?a ?b - room)"),
        (":effect (open ?a ?b)", ":precondition (door ?a ?b west) :effect (open ?a ?b)"),
    ],
)
def test_right_domains_have_no_fault(old: str, new: str) -> None:
    assert check(*changed("domain", old, new)) == Check(True, True, ())


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_position_points_at_the_word(line_end: str) -> None:
    problem = with_change(PROBLEM, "(at hall)", "(at attic)").replace("\n", line_end)
    assert [str(fault) for fault in check(DOMAIN, problem).faults] == [
        "problem line 7, column 14: `attic` is used in `:goal` but is not declared: "
        "add it to `:objects`"
    ]


def test_all_faults_come_in_order_of_position() -> None:
    domain = with_change(DOMAIN, "(at ?from) (door", "(at ?where) (in k) (door")
    problem = with_change(PROBLEM, "(:domain rooms)", "(:domain house)")
    problem = with_change(problem, "(:goal (at hall))", "(:goal (at attic))")
    assert findings(check(domain, problem)) == [
        ("symbol", "domain", 10),  # ?where
        ("symbol", "domain", 10),  # in
        ("symbol", "domain", 10),  # k belongs to the problem
        ("symbol", "problem", 2),
        ("symbol", "problem", 7),
    ]


def test_symbols_are_checked_behind_a_missing_parenthesis() -> None:
    domain = with_change(DOMAIN, "(seen ?to)))\n", "(seen ?to))\n")
    domain = with_change(domain, ":effect (open ?a ?b)", ":effect (opened ?a ?b)")
    assert findings(check(domain, PROBLEM)) == [("syntax", "domain", 8), ("symbol", "domain", 14)]


def test_skipped_section_raises_no_faults_elsewhere() -> None:
    result = check(*changed("domain", "(:predicates", "(:predicate"))
    assert findings(result) == [("syntax", "domain", 6)]


def test_missing_fact_and_missing_cost_make_an_action_useless() -> None:
    problem = with_change(PROBLEM, "\n         (door k hall west)", "")
    assert [fault.message for fault in check(DOMAIN, problem).faults] == [
        "action `move` can never be used: no action adds `door` and `:init` has no such fact",
        "no action can make `(at hall)` true: `move` needs `(door ?from hall ?d)`, and "
        "nothing makes that true",
    ]
    domain = with_change(DOMAIN, "(seen ?to))", "(seen ?to) (increase (total-cost) (far ?d)))")
    (fault,) = check(domain, PROBLEM).faults
    assert (fault.kind, fault.line) == ("warning", 11)
    assert "`far`" in fault.message


EVERY_FEATURE = """; a comment (with ) parentheses and é
(DEFINE (Domain Everything)
  (:requirements :strips :typing :equality :negative-preconditions :disjunctive-preconditions
                 :existential-preconditions :universal-preconditions :conditional-effects
                 :derived-predicates :action-costs :adl)
  (:types thing place - object tool - thing cup - ware)
  (:predicates (at?t - thing?p - place) (clean ?t - (either thing ware)) (near ?a ?b) (done) (ok))
  (:functions (total-cost) (far ?a ?b - place) - number)
  (:constants Hub - place)
  (:derived (ok) (forall (?t - thing) (clean ?t)))
  (:action wash :parameters (?t - thing ?p - place ?c - ware)
    :precondition (and (at ?t ?p) (not (clean ?t)) (or (= ?p hub) (near ?p HUB) (near HUB ?p))
      (exists (?u - tool) (and (at ?u ?p) (not (= ?u ?t)))) (imply (done) (clean ?t)) (and))
    :effect (and (clean ?t) (when (done) (and (not (done)) (near ?p hub)))
      (forall (?q - place) (when (near ?p ?q) (near ?q ?p)))
      (when (done) (forall (?q) (near ?q ?q)))
      (increase (total-cost) (far ?p hub))))
  (:action rest :parameters () :precondition () :effect (and (done) (increase (total-cost) 3)))
)"""
EVERY_PROBLEM = """(define (problem All) (:domain EVERYTHING) (:requirements :adl)
  (:objects brush - tool plate - thing sink - place)
  (:init (at brush sink) (at plate sink) (near sink hub) (= (total-cost) 0)
         (= (far sink hub) 4) (= (far hub hub) 0) (at plate sink))
  (:goal (and (ok) (or (done) (not (done))) (exists (?x - thing ?y - place) (at ?x ?y))))
  (:metric minimize (total-cost))
) ; the end"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_feature_is_accepted(line_end: str) -> None:
    domain = EVERY_FEATURE.replace("\n", line_end)
    assert check(domain, EVERY_PROBLEM.replace("\n", line_end)) == Check(True, True, ())
