"""What operators see of a daemon: counts, metrics, the admin listener."""
