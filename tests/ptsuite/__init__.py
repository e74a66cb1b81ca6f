"""PyTorch's own tests with gradd in torch's place: `make ptsuite PYTORCH_TESTS=<its folder test>`.

No file of PyTorch is kept here. The folder given has `test_autograd.py`, `autograd/` and `functorch/`, as in
a checkout of PyTorch (or of a port to another device: its files are read as for the CPU).
"""
