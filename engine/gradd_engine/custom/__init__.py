"""`autograd.Function`, checkpoints, and the random stream that they restore."""
