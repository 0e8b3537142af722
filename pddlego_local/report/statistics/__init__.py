"""Rates with their intervals, and the tests of paired arms."""
