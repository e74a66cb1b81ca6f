"""The CuPy backend, on a stand-in where there is no GPU."""
