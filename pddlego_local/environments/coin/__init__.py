"""CoinCollector (TextWorldExpress). The game itself: `game.py`."""
