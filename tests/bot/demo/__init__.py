"""Tests of the demo's parts; `make demo` plays the whole."""
