"""Figures of a report: `series` says what there is to show, `charts` which figures show it, and
`plotting` draws them.
"""
