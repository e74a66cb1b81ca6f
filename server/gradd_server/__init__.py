"""The daemon: command line, routes, stream, settings. Imports nothing at package level."""
