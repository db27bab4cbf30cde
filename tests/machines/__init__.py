"""Other machines: a real SSH server on loopback, and the real node behind it."""
