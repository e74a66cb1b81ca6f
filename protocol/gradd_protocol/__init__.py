"""What crosses gradd's wire: programs, messages, frames, problems, limits. Pure data and bytes, no I/O."""
