"""ALFWorld (text). The game itself: `game.py`."""
