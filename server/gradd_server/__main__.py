"""`python -m gradd_server` and the `gradd` script."""

from gradd_server.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
