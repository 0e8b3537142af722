"""What is counted: an episode's events into its row, and rows into what the papers report."""
