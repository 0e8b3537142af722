(define (domain corridor)
  (:requirements :strips :typing :negative-preconditions :existential-preconditions)
  (:types room)
  (:predicates
    (at ?r - room)
    (visited ?r - room)
    (beside ?from - room ?to - room)
    (lamp-in ?r - room)
    (lit))
  (:action go
    :parameters (?from - room ?to - room)
    :precondition (and (at ?from) (beside ?from ?to))
    :effect (and (not (at ?from)) (at ?to)))
  (:action light
    :parameters (?in - room)
    :precondition (and (at ?in) (lamp-in ?in))
    :effect (lit)))
