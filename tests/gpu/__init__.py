"""What only a GPU can show. Each test runs on the stand-in too: a GPU meets none that never ran."""
