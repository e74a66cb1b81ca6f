"""What a declaration says: signatures, rules, the declared op itself, and the table of all ops by name."""
