"""PDDL as text: reader, static check, explanations."""
