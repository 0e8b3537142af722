"""What a run leaves on disk: events, rows, a cell's folder and lock, and what they add up to."""
