"""The commands of `gradd`, each a module with `add`, which gives it to a parser."""
