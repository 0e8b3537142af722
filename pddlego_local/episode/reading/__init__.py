"""How a free answer is read: strictly, or with the forgiveness of whoever builds such a reader.

    text → candidates (objects, PDDL files, bare answers) → the last whole one → the form's value

Nothing is made up or mended: each string that is read stands in the answer, but for the escapes,
quotes and fences around it. What is wrong inside PDDL is for the planner to say.
"""
