"""A minimal method with its own prompt."""
