"""The build file: one Dockerfile, four images, two architectures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from gradd_protocol.version import VERSION

ROOT = Path(__file__).parents[2]


def test_all_images_are_built_for_both_architectures() -> None:
    hcl2 = pytest.importorskip("hcl2", reason="python-hcl2 is not installed")
    text = (ROOT / "docker/bake.hcl").read_text()
    found = hcl2.loads(text, serialization_options=hcl2.SerializationOptions(strip_string_quotes=True))
    targets = {name: block for one in found["target"] for name, block in one.items()}
    (group,) = (one["default"] for one in found["group"])
    assert group["targets"] == ["cpu", "cuda", "ray", "cuda-ray"]
    assert targets["image"]["platforms"] == ["linux/amd64", "linux/arm64"]
    assert (ROOT / targets["image"]["context"] / targets["image"]["dockerfile"]).exists()
    stages = re.findall(r"^FROM \S+ AS (\S+)$", (ROOT / "docker/Dockerfile").read_text(), re.MULTILINE)
    for name in group["targets"]:
        plain = targets[name.removesuffix("-ray").replace("ray", "cpu")]
        assert plain["target"] in stages
        if name.endswith("ray"):  # another build of the same stage
            assert targets[name]["inherits"] == [plain["target"]]
            assert targets[name]["args"] == {"EXTRAS": "server,ray,s3"}
            assert targets[name]["tags"] == [f"{plain['tags'][0]}-ray"]
    assert "ARG EXTRAS=server\n" in (ROOT / "docker/Dockerfile").read_text()
    assert stages[-1] == "cpu"  # what is built where nothing is named
    variables = {name: block["default"] for one in found["variable"] for name, block in one.items()}
    assert variables["VERSION"] == VERSION
