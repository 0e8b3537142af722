"""Works on PDDL as text: reader, static check, explanations, edits and repair."""
