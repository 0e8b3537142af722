"""Training a small language model on answers of the reference, for games that are played for it."""
