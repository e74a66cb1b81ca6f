"""The backward pass: its executor, hooks, accumulation, anomaly mode, and PyTorch's entry points."""
