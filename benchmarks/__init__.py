"""What gradd costs beside its peers: one question a file, `python -m benchmarks` asks them all."""
