"""Reads a free answer, either strictly or leniently.

    text → thoughts, objects, PDDL files, bare answers → candidates → the one that is
    taken

Nothing is invented or repaired. Each string that is read occurs in the answer, except
for the escapes, quotes and fences around it, and for a first bracket that was lost
behind a fence. Errors inside the PDDL are left to the planner.
"""
