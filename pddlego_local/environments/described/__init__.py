"""Worlds that are told whole, in words: a text of the domain and a text of the problem."""
