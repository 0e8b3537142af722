"""Data types and protocols, errors, outcomes, seeds, and the records of a run.

This folder imports no other folder of the package.
"""
