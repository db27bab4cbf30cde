"""The third hand's corpus: written when the rules had been mended against all of the second hand's.

    python -m tests.intake           measures all three hands, apart
    python -m tests.intake.third     this one, with --show its faults

Its author had read neither the rules (bot/intake/) nor the other two hands' corpora, and wrote from what
makers of keys publish and from how people paste. Its first figures, taken once before anything was
mended, are in docs/security.md. It is in two halves, by kind and by family of messages: whoever mends
the rules looks at one of them alone (`--show` shows no other), so that the other goes on telling how
the rules do with what nobody had in mind.

    draw      seeded values in the shape of real ones, with their checksums
    tokens    kinds that are one word, and passwords, which only the words around tell
    blocks    kinds with surroundings of their own: files, private keys, addresses
    forms     the ways in which either comes (forms.txt)
    ordinary  messages in which there is nothing to find (said.txt by hand, machine.py by lot)
    figures   what is found of it, and what is taken for a key
"""
