"""Generates the tables, verdicts and figures on the pages of results from the
records.
"""
