"""A check of a GPU in nine minutes, on a machine that has no network."""
