"""What gradd costs beside its peers: one question a file, `python -m benchmarks` asks them all."""

#: those about a real model, which take about 20 s a row
MODELS = (
    "char_gpt", "language_model", "lstm", "dcgan", "resnet", "vit", "neural_ode", "ppo", "pinn",
)  # fmt: skip
QUESTIONS = (
    "round_trip", "chain", "tiny_ops", "eager_engine", "mlp_sgd", "mlp_adam", "transformer", "convnet",
    *MODELS, "plan_hits", "recording", "memory", "chain_memory", "bulk", "clients", "first_result", "restart",
    "journal", "loader", "distance", "growth", "ops",
)  # fmt: skip
#: what grows, and the table of ops, take minutes
LONG = ("growth", "ops")
#: what is asked where all would take too long: of the models those whose steps are short
QUICK = tuple(each for each in QUESTIONS if each in ("lstm", "pinn") or each not in (*MODELS, *LONG))
