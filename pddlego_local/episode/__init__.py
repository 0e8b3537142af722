"""One episode: its questions, the drawing and reading of answers, plans, commands and
memory.
"""
