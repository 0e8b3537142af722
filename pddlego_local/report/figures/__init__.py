"""Figures of a report: `series` and `growth` say what they show, `drawing` draws it.

Only those are drawn for which the records have something to show.
"""
