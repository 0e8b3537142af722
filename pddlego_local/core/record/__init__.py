"""The records of a run on disk: events, rows, a cell's folder with its lock, and
summaries.
"""
