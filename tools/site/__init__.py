"""The site of the docs. ``python -m tools.site`` builds it with Sphinx, of the pages that docs/index.md lists
and of reference pages written from the code: the SDK's names, the command line, settings, metrics, REST.
"""
