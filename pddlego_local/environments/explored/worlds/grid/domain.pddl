; A robot with one hand in a maze of cells, some of which are locked.
(define (domain grid)
  (:requirements :strips :typing)
  (:types key cell)
  (:predicates
    (robot-at ?c - cell)
    (beside ?from - cell ?to - cell)
    (open ?c - cell)
    (locked ?c - cell)
    (opens ?k - key ?c - cell)
    (lies-at ?k - key ?c - cell)
    (holds ?k - key)
    (hand-empty))
  (:action move
    :parameters (?from - cell ?to - cell)
    :precondition (and (robot-at ?from) (beside ?from ?to) (open ?to))
    :effect (and (not (robot-at ?from)) (robot-at ?to)))
  (:action unlock
    :parameters (?c - cell ?from - cell ?k - key)
    :precondition (and (robot-at ?from) (beside ?from ?c) (locked ?c) (opens ?k ?c) (holds ?k))
    :effect (and (not (locked ?c)) (open ?c)))
  (:action take
    :parameters (?k - key ?c - cell)
    :precondition (and (robot-at ?c) (lies-at ?k ?c) (hand-empty))
    :effect (and (not (lies-at ?k ?c)) (not (hand-empty)) (holds ?k)))
  (:action drop
    :parameters (?k - key ?c - cell)
    :precondition (and (robot-at ?c) (holds ?k))
    :effect (and (not (holds ?k)) (hand-empty) (lies-at ?k ?c))))
