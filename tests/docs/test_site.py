"""The docs' site as it is built: without a warning, whole, and without a word from another site."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from gradd_protocol.version import VERSION

ROOT = Path(__file__).parents[2]
#: what a browser loads with a page
LOADED = re.compile(r"<(?:script|img|iframe)[^>]* src=\"([^\"]+)\"|<link [^>]*href=\"([^\"]+)\"")


def test_the_site(tmp_path: Path) -> None:
    """One test, since the build takes what all others of this folder do together."""
    for module in ("sphinx", "furo", "myst_parser"):
        pytest.importorskip(module, reason="the group docs is not installed")
    (tmp_path / "0.0.1").mkdir()
    (tmp_path / "0.0.1" / "index.html").write_text("an earlier version")
    command = [sys.executable, "-m", "tools.site", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

    site = tmp_path / VERSION
    pages = {path.relative_to(site).as_posix(): path.read_text() for path in site.rglob("*.html")}
    sources = {
        path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for path in ROOT.glob("docs/**/*.md")
    }
    assert sources | {"changelog.html", "contributing.html", "search.html"} <= pages.keys()
    loaded = {name: [a or b for a, b in LOADED.findall(text)] for name, text in pages.items()}
    assert all(loaded.values())
    for name, addresses in loaded.items():
        assert [address for address in addresses if "//" in address] == []
        files = [(site / name).parent / re.split("[?#]", address)[0] for address in addresses]
        assert [path for path in files if not path.exists()] == []
    styles = "".join(path.read_text() for path in site.rglob("*.css"))
    assert not re.search(r"@import|url\([\"']?https?:", styles)
    assert "theme-toggle" in pages["index.html"]

    assert f"<option>{VERSION}</option>" in pages["index.html"]
    assert (tmp_path / "versions.js").read_text() == f'globalThis.VERSIONS = ["{VERSION}", "0.0.1"];\n'
    assert f"url={VERSION}/index.html" in (tmp_path / "index.html").read_text()
    assert 'id="gradd.connect"' in pages["reference/sessions.html"]
    assert 'id="gradd.matmul"' in pages["ops.html"]
    assert '"aconnect"' in (site / "searchindex.js").read_text()
