"""Automatic differentiation over an array namespace. Knows no network and no session."""
