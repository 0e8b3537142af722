"""Figures of a report: `charts` says which figures there are and what they show, and `plotting`
draws them.
"""
