"""Tests, laid out as the rooms they test."""
