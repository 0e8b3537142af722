; What a perfect formalizer would write for ALFWorld: the actions of the prompt (PDDLego+, appendix C.6) and
; what they need. `fits` says where a thing may be put: where the task wants it, and where it was.
(define (domain household)
  (:requirements :strips :typing :negative-preconditions :existential-preconditions)
  (:types
    receptacle sharpObject - object
    microwaveReceptacle sinkbasinReceptacle fridgeReceptacle - receptacle)
  (:predicates
    (at ?r - receptacle)
    (beside ?r1 - receptacle ?r2 - receptacle)
    (visited ?r - receptacle)
    (closed ?r - receptacle)
    (opened ?r - receptacle)
    (in ?o - object ?r - receptacle)
    (fits ?o - object ?r - receptacle)
    (holding ?o - object)
    (hands-full)
    (used ?o - object)
    (hot ?o - object)
    (clean ?o - object)
    (cool ?o - object)
    (sliced ?o - object))
  (:action GotoLocation
    :parameters (?from - receptacle ?to - receptacle)
    :precondition (and (at ?from) (not (beside ?from ?to)))
    :effect (and (not (at ?from)) (at ?to) (visited ?to)))
  (:action OpenObject
    :parameters (?r - receptacle)
    :precondition (and (at ?r) (closed ?r))
    :effect (and (not (closed ?r)) (opened ?r)))
  (:action CloseObject
    :parameters (?r - receptacle)
    :precondition (and (at ?r) (opened ?r))
    :effect (and (not (opened ?r)) (closed ?r)))
  (:action PickupObject
    :parameters (?o - object ?r - receptacle)
    :precondition (and (at ?r) (in ?o ?r) (not (closed ?r)) (not (hands-full)))
    :effect (and (not (in ?o ?r)) (holding ?o) (hands-full)))
  (:action PutObject
    :parameters (?o - object ?r - receptacle)
    :precondition (and (at ?r) (holding ?o) (fits ?o ?r) (not (closed ?r)))
    :effect (and (not (holding ?o)) (not (hands-full)) (in ?o ?r)))
  (:action useObject
    :parameters (?o - object)
    :precondition (exists (?r - receptacle) (and (at ?r) (in ?o ?r)))
    :effect (used ?o))
  (:action HeatObject
    :parameters (?o - object ?r - microwaveReceptacle)
    :precondition (and (at ?r) (holding ?o))
    :effect (and (hot ?o) (not (cool ?o))))
  (:action CleanObject
    :parameters (?o - object ?r - sinkbasinReceptacle)
    :precondition (and (at ?r) (holding ?o))
    :effect (clean ?o))
  (:action CoolObject
    :parameters (?o - object ?r - fridgeReceptacle)
    :precondition (and (at ?r) (holding ?o))
    :effect (and (cool ?o) (not (hot ?o))))
  (:action SliceObject
    :parameters (?r - receptacle ?co - object ?sharp_o - sharpObject)
    :precondition (and (at ?r) (in ?co ?r) (not (closed ?r)) (holding ?sharp_o))
    :effect (sliced ?co)))
