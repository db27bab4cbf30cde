"""SQLite and files. Knows no goal and no piece; engine and bot give it plain rows to keep."""
