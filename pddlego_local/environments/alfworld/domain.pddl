; ALFWorld, written by hand from the game's rules, with the actions and parameters of PDDLego+
; (appendix C.6). The type of a thing is its name without the number: mug3 is a mug.
; What is not open or a plain surface as far as anybody saw, nothing can be taken from or put into.
(define (domain alfworld)
  (:requirements :strips :typing :equality :negative-preconditions :disjunctive-preconditions
    :existential-preconditions)
  (:types
    receptacle bluntObject sharpObject - object
    microwaveReceptacle fridgeReceptacle knifeReceptacle - receptacle
    sinkbasinReceptacle - knifeReceptacle
    microwave - microwaveReceptacle
    sinkbasin - sinkbasinReceptacle
    fridge - fridgeReceptacle
    coffeetable countertop diningtable drawer sidetable - knifeReceptacle
    armchair bathtubbasin bed cabinet cart coffeemachine desk dresser garbagecan handtowelholder
      laundryhamper ottoman paintinghanger safe shelf sofa stoveburner toaster toilet
      toiletpaperhanger towelholder tvstand - receptacle
    butterknife knife - sharpObject
    alarmclock apple baseballbat basketball bathtub blinds book boots bowl box bread candle cd
      cellphone chair cloth creditcard cup curtains desklamp dishsponge egg floorlamp footstool fork
      glassbottle handtowel houseplant kettle keychain ladle laptop laundryhamperlid lettuce
      lightswitch mirror mug newspaper painting pan papertowel papertowelroll pen pencil
      peppershaker pillow plate plunger poster pot potato remotecontrol saltshaker scrubbrush
      showerdoor showerglass sink soapbar soapbottle spatula spoon spraybottle statue stoveknob
      teddybear television tennisracket tissuebox toiletpaper toiletpaperroll tomato towel vase
      watch wateringcan window winebottle - bluntObject)
  (:predicates
    (at ?r - receptacle)
    (beside ?r1 - receptacle ?r2 - receptacle) ; at one spot: no way to go from one to the other
    (visited ?r - receptacle)                  ; before this plan
    (explored ?r - receptacle)                 ; looked into before this plan
    (closed ?r - receptacle)
    (opened ?r - receptacle)                   ; also surfaces: what is in it can be reached
    (in ?o - object ?r - receptacle)
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
    :effect (and (not (at ?from)) (at ?to)))
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
    :precondition (and (at ?r) (in ?o ?r) (opened ?r) (not (hands-full)))
    :effect (and (not (in ?o ?r)) (holding ?o) (hands-full)))
  (:action PutObject                           ; knives do not go everywhere
    :parameters (?o - object ?r - receptacle)
    :precondition (and (at ?r) (holding ?o) (opened ?r)
      (or (exists (?blunt - bluntObject) (= ?o ?blunt))
          (exists (?place - knifeReceptacle) (= ?r ?place))))
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
  (:action SliceObject                         ; in its receptacle, not in the hand
    :parameters (?r - receptacle ?co - object ?sharp_o - sharpObject)
    :precondition (and (at ?r) (in ?co ?r) (opened ?r) (holding ?sharp_o))
    :effect (sliced ?co)))
