"""Worlds that two texts describe completely: a text of the domain and a text of the
problem.
"""
