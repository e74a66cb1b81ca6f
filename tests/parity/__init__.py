"""Operators beside PyTorch's: the samples of its operator database, counted check by check.

`make parity` runs them all and writes docs/parity-ops.md.
"""
