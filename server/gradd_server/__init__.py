"""The daemon: command line, routes, stream, settings. The package itself imports nothing."""
