"""What every test needs."""

import signal

# A shell that starts the tests in the background lets them and their children ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
