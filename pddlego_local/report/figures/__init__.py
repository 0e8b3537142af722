"""Figures of a report: `charts` defines the figures, and `plotting` draws them."""
