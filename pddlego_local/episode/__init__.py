"""One episode: questions, answers and how they are drawn and read, plans, commands, memory."""
