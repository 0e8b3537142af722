; What a perfect formalizer would write for CookingWorld: exactly the actions of the prompt.
(define (domain cooking)
  (:requirements :strips :typing)
  (:types
    stove oven toaster barbeque - appliance
    ingredient knife - item
    item appliance - thing
    thing container location direction)
  (:predicates
    (at ?loc - location)
    (is-kitchen ?loc - location)
    (connected ?from - location ?to - location ?dir - direction)
    (closed-door ?loc1 - location ?loc2 - location ?dir - direction)
    (closed ?con - container ?loc - location)
    (opened ?con - container ?loc - location)
    (obj-at ?thing - thing ?loc - location)
    (have ?item - item)
    (sliced ?ing - ingredient)
    (chopped ?ing - ingredient)
    (diced ?ing - ingredient)
    (fried ?ing - ingredient)
    (roasted ?ing - ingredient)
    (grilled ?ing - ingredient)
    (prepared)
    (eaten))
  (:action open-door
    :parameters (?loc1 - location ?loc2 - location ?dir - direction)
    :precondition (and (at ?loc1) (closed-door ?loc1 ?loc2 ?dir))
    :effect (and (not (closed-door ?loc1 ?loc2 ?dir)) (connected ?loc1 ?loc2 ?dir)))
  (:action move
    :parameters (?from - location ?to - location ?dir - direction)
    :precondition (and (at ?from) (connected ?from ?to ?dir))
    :effect (and (not (at ?from)) (at ?to)))
  (:action open-container
    :parameters (?con - container ?loc - location)
    :precondition (and (at ?loc) (closed ?con ?loc))
    :effect (and (not (closed ?con ?loc)) (opened ?con ?loc)))
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
    :effect (grilled ?ing))
  (:action prepare-meal
    :parameters (?loc - location)
    :precondition (and (at ?loc) (is-kitchen ?loc))
    :effect (prepared))
  (:action eat-meal
    :parameters ()
    :precondition (prepared)
    :effect (eaten)))
