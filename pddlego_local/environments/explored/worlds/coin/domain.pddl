; CoinCollector: a house of rooms and doors, which can be closed again.
(define (domain coin)
  (:requirements :strips :typing)
  (:types room direction)
  (:constants north east south west - direction)
  (:predicates
    (at ?r - room)
    (connected ?from - room ?to - room ?dir - direction)
    (closed-door ?from - room ?to - room ?dir - direction)
    (opposite ?dir - direction ?back - direction)
    (coin-at ?r - room)
    (have-coin))
  (:action open-door
    :parameters (?from - room ?to - room ?dir - direction ?back - direction)
    :precondition (and (at ?from) (closed-door ?from ?to ?dir) (opposite ?dir ?back))
    :effect (and (not (closed-door ?from ?to ?dir)) (connected ?from ?to ?dir)
      (not (closed-door ?to ?from ?back)) (connected ?to ?from ?back)))
  (:action close-door
    :parameters (?from - room ?to - room ?dir - direction ?back - direction)
    :precondition (and (at ?from) (connected ?from ?to ?dir) (opposite ?dir ?back))
    :effect (and (not (connected ?from ?to ?dir)) (closed-door ?from ?to ?dir)
      (not (connected ?to ?from ?back)) (closed-door ?to ?from ?back)))
  (:action move
    :parameters (?from - room ?to - room ?dir - direction)
    :precondition (and (at ?from) (connected ?from ?to ?dir))
    :effect (and (not (at ?from)) (at ?to)))
  (:action take-coin
    :parameters (?r - room)
    :precondition (and (at ?r) (coin-at ?r))
    :effect (and (not (coin-at ?r)) (have-coin))))
