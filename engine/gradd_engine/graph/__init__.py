"""What becomes of a call beside its values: `infer`, the node that records it, views, in-place changes,
tangents.
"""
