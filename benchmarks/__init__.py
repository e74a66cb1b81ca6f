"""What gradd costs beside its peers: one question a file, `python -m benchmarks` asks them all."""

QUESTIONS = (
    "round_trip", "chain", "tiny_ops", "eager_engine", "mlp_sgd", "mlp_adam", "transformer", "convnet",
    "plan_hits", "recording", "memory", "chain_memory", "bulk", "clients", "first_result", "restart",
    "journal", "loader", "distance",
)  # fmt: skip
