(define (domain exploration)
  (:requirements :strips :typing)
  (:types location direction)
  (:predicates
    (at ?loc - location)
    (connected ?from - location ?to - location ?dir - direction)
    (closed-door ?loc1 - location ?loc2 - location ?dir - direction))
  (:action open-door
    :parameters (?loc1 - location ?loc2 - location ?dir - direction)
    :precondition (and (at ?loc1) (closed-door ?loc1 ?loc2 ?dir))
    :effect (and (not (closed-door ?loc1 ?loc2 ?dir)) (connected ?loc1 ?loc2 ?dir)))
  (:action move
    :parameters (?from - location ?to - location ?dir - direction)
    :precondition (and (at ?from) (connected ?from ?to ?dir))
    :effect (and (not (at ?from)) (at ?to))))
