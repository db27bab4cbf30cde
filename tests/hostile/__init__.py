"""Texts that give orders or pass for ours (texts.py), the ways they come in, and what may become of them (judge.py)."""
