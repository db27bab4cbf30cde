"""What runs on a machine: standard library only, zipped and sent there (Python 3.9 or newer)."""
