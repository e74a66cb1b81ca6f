"""Engine processes: an alternative to the runtime's `inline` placement."""
