"""The op table: one declaration, one sample, all checks."""
