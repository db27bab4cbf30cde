"""What the owner asks for, done: a file for each subject, put together in engine/door.py."""
