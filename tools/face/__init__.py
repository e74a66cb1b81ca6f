"""The typed face of the SDK, written from the declarations: stubs beside the modules whose names come from
the table of ops, and docs/ops.md. ``python -m tools.face`` writes them, ``--check`` fails where one is stale.
"""
