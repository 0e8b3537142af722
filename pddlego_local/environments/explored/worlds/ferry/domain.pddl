; Cars on islands, and a ferry with room for one car.
(define (domain ferry)
  (:requirements :strips :typing)
  (:types car island)
  (:predicates
    (ferry-at ?i - island)
    (parked ?c - car ?i - island)
    (deck-empty)
    (on-deck ?c - car))
  (:action sail
    :parameters (?from - island ?to - island)
    :precondition (ferry-at ?from)
    :effect (and (not (ferry-at ?from)) (ferry-at ?to)))
  (:action board
    :parameters (?c - car ?i - island)
    :precondition (and (ferry-at ?i) (parked ?c ?i) (deck-empty))
    :effect (and (not (parked ?c ?i)) (not (deck-empty)) (on-deck ?c)))
  (:action land
    :parameters (?c - car ?i - island)
    :precondition (and (ferry-at ?i) (on-deck ?c))
    :effect (and (not (on-deck ?c)) (deck-empty) (parked ?c ?i))))
