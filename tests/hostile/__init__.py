"""Hostile calls of every op: nothing but a result or a clear refusal may come of one."""
