; CookingWorld, written by hand from the game's rules (PDDLego, figure 6), with the door's direction
; as a parameter, so that every plan maps onto commands by position, and with taking. Opening
; containers, preparing and eating are left out: the paper's method plays them mechanically.
(define (domain cooking_world)
  (:requirements :strips :typing :negative-preconditions :existential-preconditions)
  (:types
    stove oven toaster barbeque - appliance
    ingredient knife - item
    item appliance - thing
    thing container location direction)
  (:predicates
    (at ?loc - location)
    (visited ?loc - location)
    (connected ?from - location ?to - location ?dir - direction)
    (closed-door ?loc1 - location ?loc2 - location ?dir - direction)
    (obj-at ?thing - thing ?loc - location)
    (have ?item - item)
    (sliced ?ing - ingredient)
    (chopped ?ing - ingredient)
    (diced ?ing - ingredient)
    (fried ?ing - ingredient)
    (roasted ?ing - ingredient)
    (grilled ?ing - ingredient))
  (:action open-door
    :parameters (?loc1 - location ?loc2 - location ?dir - direction)
    :precondition (and (at ?loc1) (closed-door ?loc1 ?loc2 ?dir))
    :effect (and (not (closed-door ?loc1 ?loc2 ?dir)) (connected ?loc1 ?loc2 ?dir)))
  (:action move
    :parameters (?from - location ?to - location ?dir - direction)
    :precondition (and (at ?from) (connected ?from ?to ?dir))
    :effect (and (not (at ?from)) (at ?to)))
  (:action take
    :parameters (?item - item ?loc - location)
    :precondition (and (at ?loc) (obj-at ?item ?loc))
    :effect (and (not (obj-at ?item ?loc)) (have ?item)))
  (:action slice
    :parameters (?ing - ingredient ?kni - knife)
    :precondition (and (have ?ing) (have ?kni))
    :effect (sliced ?ing))
  (:action chop
    :parameters (?ing - ingredient ?kni - knife)
    :precondition (and (have ?ing) (have ?kni))
    :effect (chopped ?ing))
  (:action dice
    :parameters (?ing - ingredient ?kni - knife)
    :precondition (and (have ?ing) (have ?kni))
    :effect (diced ?ing))
  (:action use-stove
    :parameters (?ing - ingredient ?loc - location ?sto - stove)
    :precondition (and (at ?loc) (obj-at ?sto ?loc) (have ?ing))
    :effect (fried ?ing))
  (:action use-oven
    :parameters (?ing - ingredient ?loc - location ?ove - oven)
    :precondition (and (at ?loc) (obj-at ?ove ?loc) (have ?ing))
    :effect (roasted ?ing))
  (:action use-toaster
    :parameters (?ing - ingredient ?loc - location ?toa - toaster)
    :precondition (and (at ?loc) (obj-at ?toa ?loc) (have ?ing))
    :effect (grilled ?ing))
  (:action use-barbeque
    :parameters (?ing - ingredient ?loc - location ?bbq - barbeque)
    :precondition (and (at ?loc) (obj-at ?bbq ?loc) (have ?ing))
    :effect (grilled ?ing)))
