"""A corridor of rooms with a lamp in one of them: the least that makes an environment."""
