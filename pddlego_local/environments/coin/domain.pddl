; CoinCollector, written by hand from the game's rules (PDDLego, figure 5), with the door's direction
; as a parameter, so that every plan maps onto commands by position, and with the coin.
(define (domain coin_collector)
  (:requirements :strips :typing :negative-preconditions :existential-preconditions)
  (:types location direction)
  (:predicates
    (at ?loc - location)
    (visited ?loc - location)
    (connected ?from - location ?to - location ?dir - direction)
    (closed-door ?loc1 - location ?loc2 - location ?dir - direction)
    (coin-at ?loc - location)
    (have-coin))
  (:action open-door
    :parameters (?loc1 - location ?loc2 - location ?dir - direction)
    :precondition (and (at ?loc1) (closed-door ?loc1 ?loc2 ?dir))
    :effect (and (not (closed-door ?loc1 ?loc2 ?dir)) (connected ?loc1 ?loc2 ?dir)))
  (:action move
    :parameters (?from - location ?to - location ?dir - direction)
    :precondition (and (at ?from) (connected ?from ?to ?dir))
    :effect (and (not (at ?from)) (at ?to)))
  (:action take-coin
    :parameters (?loc - location)
    :precondition (and (at ?loc) (coin-at ?loc))
    :effect (and (not (coin-at ?loc)) (have-coin))))
