; Locked chests in a vault. The label of a chest says which key opens it.
(define (domain vault)
  (:requirements :strips :typing)
  (:types room chest item - object key jewel - item)
  (:predicates
    (at ?r - room)
    (corridor ?from - room ?to - room)
    (stands ?c - chest ?r - room)
    (locked ?c - chest)
    (open ?c - chest)
    (label ?c - chest ?k - key)
    (lies ?i - item ?r - room)
    (inside ?i - item ?c - chest)
    (held ?i - item))
  (:action go
    :parameters (?from - room ?to - room)
    :precondition (and (at ?from) (corridor ?from ?to))
    :effect (and (not (at ?from)) (at ?to)))
  (:action unlock
    :parameters (?c - chest ?k - key ?r - room)
    :precondition (and (at ?r) (stands ?c ?r) (locked ?c) (label ?c ?k) (held ?k))
    :effect (and (not (locked ?c)) (open ?c)))
  (:action pick-up
    :parameters (?i - item ?r - room)
    :precondition (and (at ?r) (lies ?i ?r))
    :effect (and (not (lies ?i ?r)) (held ?i)))
  (:action take-out
    :parameters (?i - item ?c - chest ?r - room)
    :precondition (and (at ?r) (stands ?c ?r) (open ?c) (inside ?i ?c))
    :effect (and (not (inside ?i ?c)) (held ?i))))
