"""The card of an evaluation: card.html, card.md and card.json, from its records alone.

There is no single score: a card has a line for each part of the suite and each arm.
"""

from pddlego_local.report.card.card import write_card as write_card
