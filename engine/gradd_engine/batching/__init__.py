"""`vmap`: levels of tensors that show one sample and hold the batch, and a rule for each op."""
