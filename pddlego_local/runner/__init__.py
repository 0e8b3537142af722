"""Runs experiments: configuration, cells, thread pool, limits and Ctrl-C, launchers,
provenance.
"""
