"""Intake of keys, measured: what is found of planted ones, and what of ordinary chat and code is taken for one.

`python -m tests.intake` prints the figures. `planted` makes keys (never written out whole anywhere),
`ways` puts them into messages, `ordinary` has messages without any. The rules were tuned on all of it;
`second/` and `third/` are corpora by other hands, measured apart.
"""
