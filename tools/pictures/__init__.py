"""The pictures of docs/: drawn from the code, so that they cannot say what it does not.

`house` draws packages and rooms by the import graph, `flows` the ways of a batch and of a backward pass by
lists of definitions that have to exist. ``python -m tools.pictures`` writes them.
"""
