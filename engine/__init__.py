"""The engine process: rules that decide, adapters that act, and the door others knock at."""
