"""Sphinx's configuration: pages of Markdown, light and dark, nothing from another site."""

from __future__ import annotations

from docutils import nodes
from gradd_protocol.version import VERSION
from sphinx.addnodes import desc_signature, pending_xref
from sphinx.application import Sphinx

project = "gradd"
author = "gradd developers"
release = version = VERSION
extensions = ["myst_parser"]
# Anchors as GitHub makes them, down to ###.
myst_heading_anchors = 3
myst_links_external_new_tab = False
highlight_language = "none"
smartquotes = False
python_maximum_signature_line_length = 100
toc_object_entries = False
add_module_names = True
html_theme = "furo"
html_title = f"gradd {VERSION}"
html_static_path = ["static"]
html_css_files = ["site.css"]
templates_path = ["templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/version.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False


def setup(app: Sphinx) -> None:
    """See Sphinx."""
    app.connect("doctree-read", without_links_of_types)


def without_links_of_types(app: Sphinx, doctree: nodes.document) -> None:
    """Signatures without a search for each type in them, which took a third of the build and finds few."""
    for signature in list(doctree.findall(desc_signature)):
        for reference in list(signature.findall(pending_xref)):
            reference.replace_self(reference.children)
