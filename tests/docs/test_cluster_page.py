"""docs/cluster.md: its commands are such, its settings those of the daemon, its values those of the chart."""

from __future__ import annotations

import dataclasses
import re
import shlex
from typing import Any

import pytest
import yaml
from gradd_protocol import advice
from gradd_server import cli
from gradd_server.settings import Settings

from tests.docs.test_pages import ROOT

PAGE = (ROOT / "docs/cluster.md").read_text()
COMMANDS = re.findall(r"^    (?:docker .* exec front )?gradd (.*)$", PAGE, re.MULTILINE)
STARTS = re.findall(r"ray start (--(?!help)[^`#\n]*)", PAGE)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_one(command: str) -> None:
    arguments = cli.parser().parse_args(shlex.split(command))
    assert callable(arguments.run)
    if command.startswith("serve"):
        settings = Settings.load(vars(arguments), {})
        assert (settings.placement, settings.ray_address) == ("ray", "HEAD:6379")


def test_addresses_are_such() -> None:
    (url,) = re.findall(r"^    export GRADD_URL=(.*)$", PAGE, re.MULTILINE)
    assert advice.mistake(url) == ""
    assert len(advice.addresses(url)) == 2


def test_the_page_has_commands() -> None:
    assert len(COMMANDS) >= 7
    assert len(STARTS) >= 3


@pytest.mark.parametrize("command", STARTS)
def test_ray_takes_its_flags(command: str) -> None:
    pytest.importorskip("ray", reason="ray is not installed")
    from ray.scripts.scripts import start

    known = {flag for parameter in start.params for flag in parameter.opts}
    assert {flag.partition("=")[0] for flag in shlex.split(command)} <= known


def test_settings_have_the_defaults_that_it_says() -> None:
    defaults = {field.name: field.default for field in dataclasses.fields(Settings)}
    rows = dict(re.findall(r"^\| `--([\w-]+)` \| ([^|]*) \|", PAGE, re.MULTILINE))
    assert {"placement", "ray-address", "ray-share", "node-silence-seconds"} <= rows.keys()
    assert rows["placement"] == f"`{defaults['placement']}`"
    assert rows["workers"] == str(defaults["workers"])
    assert float(rows["node-silence-seconds"]) == defaults["node_silence_seconds"]


def test_values_are_the_charts() -> None:
    values: Any = yaml.safe_load((ROOT / "docker/helm/gradd/values.yaml").read_text())
    named = re.findall(r"`((?:cluster|persistence)\.[\w.]+)`", PAGE)
    said = {*named, *re.findall(r"--set '?([\w.]+)=", PAGE)}
    assert len(said) >= 8
    for path in said:
        found = values
        for name in path.split("."):
            assert name in found, path
            found = found[name]
