"""Public PyTorch scripts, none of them written for gradd, run with gradd in torch's place (`make wild`)."""
