"""``python -m tools.site FOLDER`` builds the docs of this version into FOLDER/VERSION; a warning fails.

Versions that are there already stay: FOLDER/versions.js lists all of them for the switcher, and
FOLDER/index.html leads to the latest.
"""

from __future__ import annotations

import gc
import json
import shutil
import sys
import tempfile
from pathlib import Path

from gradd_protocol.version import VERSION
from packaging.version import Version
from sphinx.cmd.build import build_main

from . import pages, reference

_FRONT = (
    '<!doctype html><meta charset="utf-8"><title>gradd</title>'
    '<meta http-equiv="refresh" content="0; url={0}/index.html"><a href="{0}/index.html">gradd {0}</a>\n'
)


def build(site: Path) -> int:
    """Build the site's folder of this version; Sphinx's exit code."""
    with tempfile.TemporaryDirectory() as work:
        source = Path(work) / "pages"
        source.mkdir()
        pages.write(source, {"Reference": list(reference.PAGES)})
        reference.write(source)
        shutil.rmtree(site / VERSION, ignore_errors=True)
        config = str(Path(__file__).parent)
        options = ["-b", "html", "-c", config, "-d", f"{work}/doctrees", "-W", "--keep-going", "-q"]
        return build_main([*options, str(source), str(site / VERSION)])


def versions(site: Path) -> list[str]:
    """The versions that a site has, the latest first."""
    found = [path.parent.name for path in site.glob("*/index.html")]
    return sorted(found, key=Version, reverse=True)


def main(arguments: list[str]) -> int:
    """Build, and write what is common to all versions; the exit code."""
    gc.disable()  # a quarter of the build; the process ends with it
    site = Path(arguments[0])
    code = build(site)
    if code == 0:
        found = versions(site)
        (site / "versions.js").write_text(f"globalThis.VERSIONS = {json.dumps(found)};\n")
        (site / "index.html").write_text(_FRONT.format(found[0]))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
