"""Pure rules: decide(state, event) -> (state, effects). No I/O, no clock, no chance."""
