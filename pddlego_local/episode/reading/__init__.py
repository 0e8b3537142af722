"""How a free answer is read: strictly, or with the forgiveness of whoever builds such a reader.

    text → thoughts, objects, PDDL files, bare answers → candidates → the one that counts

Nothing is made up or mended: each string that is read stands in the answer, except for the escapes,
quotes and fences around it, and for a first bracket that a fence took. What is wrong inside PDDL is
for the planner to say.
"""
