"""The second hand's corpus: secrets and ordinary messages by one who had not read the rules.

    python -m tests.intake      measures both hands, apart

The first hand's corpus (planted.py, ordinary.py beside this folder) and the rules it measures
(bot/intake/) come from one hand, so that what it overlooked in the one it overlooked in the other.
This one was written from what vendors publish and from how people paste, and committed before its
author opened either. It is in two halves (halves.py): the rules were mended against one of them,
and the other was only counted.

    draw      seeded characters; no secret stands in a file, each is assembled when asked for
    tokens    kinds that are one word: a vendor's key, a password with its name beside it
    blocks    kinds that are a text of their own: a config file, a private key, an address
    forms     the ways in which either comes (forms.txt, and said/ for what people write)
    ordinary  messages in which there is nothing to find (said/, code/, machine.py)
    halves    which is which
"""
