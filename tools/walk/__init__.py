"""The walks of docs/: what stands under a command of a page is what that command printed.

A page's blocks are its script, from top to bottom. One that begins with a comment of a file's name is that
file. In a ``console`` block each line that begins with ``$ `` is run, and what it prints takes the place of
what stands below. `figures` draws what the scripts of a walk wrote down. ``python -m tools.walk`` writes all.
"""
