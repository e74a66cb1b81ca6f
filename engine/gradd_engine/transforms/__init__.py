"""Function transforms: what `torch.func` and forward mode make of functions."""
