"""CookingWorld (TextWorldExpress). The game itself: `game.py`."""
