"""Tensors, the nodes and edges of their graph, and what nodes save."""
