"""Function transforms: what `torch.func` makes of functions."""
