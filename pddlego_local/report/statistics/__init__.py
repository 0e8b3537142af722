"""What is reckoned: rates with their intervals, and the tests of paired arms."""
