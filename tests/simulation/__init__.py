"""The whole engine against a world that is played: one seed, one history, no real time."""
