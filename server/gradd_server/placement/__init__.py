"""Where the daemon runs its sessions, beside the runtime's own `inline` placement."""
