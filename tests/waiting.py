"""How long a test waits for what must come. It bounds a hang, never a speed: machines are slow and busy."""

#: seconds; what comes, comes much earlier
PATIENCE = 600.0
