"""gradd's wire format: programs, messages, frames, problems, limits. Pure data and bytes, no I/O."""
