"""``make gpu``: what only a GPU can show, in one command. Plain Python until an interpreter is chosen."""
