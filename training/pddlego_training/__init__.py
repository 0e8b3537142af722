"""Trains a small language model on the answers of the reference to the questions of
games.
"""
