; A messenger with one bag brings parcels to the rooms of an office. Doors are closed.
(define (domain office)
  (:requirements :strips :typing)
  (:types room parcel)
  (:predicates
    (at ?r - room)
    (open-door ?from - room ?to - room)
    (closed-door ?from - room ?to - room)
    (in ?p - parcel ?r - room)
    (carried ?p - parcel)
    (bag-empty))
  (:action open
    :parameters (?from - room ?to - room)
    :precondition (and (at ?from) (closed-door ?from ?to))
    :effect (and (not (closed-door ?from ?to)) (open-door ?from ?to)
      (not (closed-door ?to ?from)) (open-door ?to ?from)))
  (:action go
    :parameters (?from - room ?to - room)
    :precondition (and (at ?from) (open-door ?from ?to))
    :effect (and (not (at ?from)) (at ?to)))
  (:action pick-up
    :parameters (?p - parcel ?r - room)
    :precondition (and (at ?r) (in ?p ?r) (bag-empty))
    :effect (and (not (in ?p ?r)) (not (bag-empty)) (carried ?p)))
  (:action put-down
    :parameters (?p - parcel ?r - room)
    :precondition (and (at ?r) (carried ?p))
    :effect (and (not (carried ?p)) (bag-empty) (in ?p ?r))))
