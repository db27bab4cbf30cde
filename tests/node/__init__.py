"""Tests of engine/node."""
