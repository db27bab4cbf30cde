"""What a key looks like: `shapes` the providers' own, `nearby` what the words around it tell.

`lines` puts a wrapped one together, `halves` tells one that broke off. All pure; bot/keys.py is the door to it.
"""
