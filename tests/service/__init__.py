"""What runs as a service: its units, what it tells systemd, the alarm, how it ends."""
