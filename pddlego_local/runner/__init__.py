"""A run: config, cells, the pool of episodes, limits and Ctrl-C, other machines, provenance."""
