"""What a key looks like: `shapes` the providers' own, `nearby` what the words around it tell.

`lines` puts a wrapped one together. All pure; bot/keys.py is the door to it.
"""
