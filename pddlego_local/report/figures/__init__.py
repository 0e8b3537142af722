"""Figures of a report: `charts` and `differences` define the figures, and `plotting` draws them."""
