"""What a key looks like: `shapes` the providers' own, `unlisted` what makers not known here write.

`tied` is told by a name and how a value stands to it, `nearby` by the words around, `commands` by the
place in a command, a statement or an address, `calls` by the call it is handed to, `makers` by its
maker's name alone, `tongues` in tongues without spaces, `checked` by its checksum or what is closed in
it, `groups` by what a few words together are called. `judge` tells what a machine made from what a
person wrote, `lines` puts a wrapped one together, `halves` tells one that broke off. All pure;
bot/keys.py is the door to it.
"""
