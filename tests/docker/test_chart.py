"""The Helm chart: linted, rendered by Helm's own library, and held against Kubernetes' schemas."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from gradd_protocol.version import VERSION
from gradd_server.settings import Settings

ROOT = Path(__file__).parents[2]
CHART = ROOT / "docker/helm/gradd"
KUBERNETES = "1.34.0"
PLAIN = {"insecureHttp": True}
#: Values that differ as much as they can.
RELEASES: dict[str, dict[str, Any]] = {
    "plain": PLAIN,
    "everything": {
        "tls": {"secretName": "cert"},
        "allowedHosts": ["gpu.example.org"],
        "settings": {"threads": 4, "tenant_bytes": 8589934592, "idle_seconds": 0.5, "log_level": "debug"},
        "keys": {"file": '{"version": 1, "keys": []}'},
        "metrics": {
            "enabled": True,
            "serviceMonitor": {
                "enabled": True,
                "keySecret": {"name": "scraper"},
                "labels": {"release": "prom"},
            },
        },
        "gpu": {"enabled": True, "runtimeClassName": "nvidia"},
        "image": {"pullSecrets": [{"name": "registry"}]},
        "persistence": {"storageClass": "fast"},
        "podAnnotations": {"a": "b"},
        "podLabels": {"team": "c"},
        "nodeSelector": {"kubernetes.io/arch": "amd64"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
    },
    "a claim and keys that are there": {
        **PLAIN,
        "persistence": {"existingClaim": "old"},
        "keys": {"existingSecret": "mine"},
    },
    "cluster": {
        **PLAIN,
        "persistence": {"accessModes": ["ReadWriteMany"]},
        "settings": {"workers": 2, "node_silence_seconds": 5},
        "cluster": {"enabled": True, "tokenSecret": "token"},
    },
    "cluster with everything": {
        "tls": {"secretName": "cert"},
        "gpu": {"enabled": True, "runtimeClassName": "nvidia"},
        "image": {"pullSecrets": [{"name": "registry"}]},
        "persistence": {"existingClaim": "records"},
        "nodeSelector": {"kubernetes.io/arch": "amd64"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
        "cluster": {
            "enabled": True,
            "tokenSecret": "token",
            "fronts": 2,
            "nodes": 8,
            "redis": {"address": "redis:6379", "passwordSecret": {"name": "redis", "key": "password"}},
            "drainKeySecret": {"name": "operator", "key": "key"},
        },
    },
    "cluster in an object store": {
        **PLAIN,
        "keys": {"existingSecret": "mine"},
        "cluster": {
            "enabled": True,
            "tokenSecret": "token",
            "fronts": 2,
            "records": {"url": "s3://bucket/here", "secret": "aws"},
        },
    },
}
#: Of the chart's kinds, those that are not Kubernetes' own.
FOREIGN = {"ServiceMonitor", "RayCluster"}


@pytest.fixture(scope="module")
def helm() -> Any:
    return pytest.importorskip("helm_python", reason="helm-python-sdk is not installed")


def rendered(helm: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """The objects of a release called `demo`, by their kinds; the notes by `NOTES`."""
    with helm.Chart.load(CHART) as chart:
        texts = chart.render(dict(values), name="demo", namespace="lab")
    found: dict[str, Any] = {}
    for path, text in texts.items():
        if path.endswith("NOTES.txt"):
            found["NOTES"] = text
        elif (made := yaml.safe_load(text)) is not None:
            found[made["kind"]] = made
    return found


def groups(release: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The groups of the Ray cluster, if there is one: the head's, and that of the nodes."""
    spec = release.get("RayCluster", {}).get("spec")
    return [spec["headGroupSpec"], *spec["workerGroupSpecs"]] if spec else []


def pods(release: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What all pods are to be."""
    found = [release["StatefulSet"]["spec"]["template"]["spec"], release["Pod"]["spec"]]
    return [*found, *(group["template"]["spec"] for group in groups(release))]


def containers(release: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [c for pod in pods(release) for c in [*pod.get("initContainers", []), *pod["containers"]]]


def environment(release: Mapping[str, Any]) -> dict[str, Any]:
    (container,) = release["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    return {entry["name"]: entry.get("value") for entry in container["env"]}


@pytest.mark.parametrize("values", RELEASES.values(), ids=RELEASES)
def test_lint_finds_nothing(helm: Any, values: dict[str, Any]) -> None:
    report = helm.lint(CHART, values, strict=True, kube_version=f"v{KUBERNETES}")
    assert report["total_charts_linted"] == 1
    assert [one for one in report["messages"] if one["severity"] > 1] == []
    assert report["errors"] == []


@pytest.mark.parametrize("values", RELEASES.values(), ids=RELEASES)
def test_objects_are_kubernetes_own(helm: Any, values: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        schemas = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    release = rendered(helm, values)
    for kind, made in release.items():
        if kind not in {"NOTES", *FOREIGN}:
            schemas.validate(made, KUBERNETES, strict=True)
    for pod in pods(release):
        made = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": pod}
        schemas.validate(made, KUBERNETES, strict=True)
    assert {"NOTES", "Pod", "Service", "StatefulSet"} <= set(release)
    assert ("Secret" in release) == bool(values.get("keys", {}).get("file"))
    assert ("ServiceMonitor" in release) == ("metrics" in values)


@pytest.mark.parametrize("values", RELEASES.values(), ids=RELEASES)
def test_every_container_is_locked_down(helm: Any, values: dict[str, Any]) -> None:
    release = rendered(helm, values)
    for container in containers(release):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    for pod in pods(release):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == 10001
        assert pod["automountServiceAccountToken"] is False
        # A Service called gradd would set GRADD_PORT.
        assert pod["enableServiceLinks"] is False


@pytest.mark.parametrize("values", RELEASES.values(), ids=RELEASES)
def test_the_daemon_takes_its_settings(helm: Any, values: dict[str, Any], tmp_path: Path) -> None:
    told = environment(rendered(helm, values))
    said = {name: value.replace("$(POD_IP)", "10.1.2.3") for name, value in told.items() if value is not None}
    # What Kubernetes says; a Secret has the other one.
    assert told.keys() - said.keys() == {"POD_IP", *(["RAY_AUTH_TOKEN"] if "cluster" in values else [])}
    settings = Settings.load({}, said)
    assert settings.host == "0.0.0.0"
    assert {"demo-gradd.lab.svc", "10.1.2.3", *values.get("allowedHosts", [])} <= settings.hosts
    assert settings.tls == ("tls" in values)
    assert settings.admin == ("0.0.0.0:9473" if "metrics" in values else "")
    assert settings.placement == ("ray" if "cluster" in values else "workers")
    if "metrics" in values:
        assert (settings.threads, settings.tenant_bytes, settings.idle_seconds) == (4, 8589934592, 0.5)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("traces", "http://collector:4318/?a=1&b=<2>", "http://collector:4318/?a=1&b=<2>"),
        ("log_file", 'C:\\a "b"', 'C:\\a "b"'),
        ("log_level", "debug", "debug"),
        ("idle_seconds", 0.5, "0.5"),
        ("tenant_bytes", 1 << 40, "1099511627776"),
    ],
)
def test_a_setting_is_passed_on_as_it_is(helm: Any, name: str, value: Any, said: str) -> None:
    release = rendered(helm, {**PLAIN, "settings": {name: value}})
    assert environment(release)[f"GRADD_{name.upper()}"] == said


def test_every_setting_that_the_chart_leaves_open_is_known_by_name(helm: Any) -> None:
    """Kubernetes would pass on a mistyped one, which no daemon looks at."""
    closed = {"GRADD_AUTH", "GRADD_PORT"}  # and what the chart sets, in some release
    for values in RELEASES.values():
        closed |= environment(rendered(helm, {**values, "settings": {}})).keys()
    schema = json.loads((CHART / "values.schema.json").read_text())
    known = schema["properties"]["settings"]["propertyNames"]["enum"]
    fields = {field.name for field in dataclasses.fields(Settings)}
    assert known == sorted(name for name in fields if f"GRADD_{name.upper()}" not in closed)


def test_probes_name_a_host_that_the_daemon_knows(helm: Any) -> None:
    release = rendered(helm, RELEASES["everything"])
    (container,) = release["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    paths = {}
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        asked = container[name]["httpGet"]
        assert asked["scheme"] == "HTTPS"
        assert asked["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
        paths[name] = asked["path"]
    assert paths == {"startupProbe": "/livez", "livenessProbe": "/livez", "readinessProbe": "/readyz"}
    assert container["resources"]["limits"] == {"memory": "4Gi", "nvidia.com/gpu": 1}
    assert container["image"] == f"gradd:{VERSION}-cuda"
    assert release["ServiceMonitor"]["spec"]["endpoints"][0]["authorization"] == {
        "credentials": {"name": "scraper", "key": "key"}
    }


def test_null_takes_away_what_the_chart_says_of_itself(helm: Any) -> None:
    release = rendered(helm, {**PLAIN, "resources": None, "allowedHosts": None})
    (container,) = release["StatefulSet"]["spec"]["template"]["spec"]["containers"]
    assert container["resources"] == {}
    assert environment(release)["GRADD_ALLOWED_HOSTS"].endswith(",$(POD_IP)")


def test_there_is_one_volume(helm: Any) -> None:
    (claim,) = rendered(helm, PLAIN)["StatefulSet"]["spec"]["volumeClaimTemplates"]
    assert claim["spec"]["resources"]["requests"]["storage"] == "10Gi"
    there = rendered(helm, RELEASES["a claim and keys that are there"])["StatefulSet"]["spec"]
    assert "volumeClaimTemplates" not in there
    claims = [v["persistentVolumeClaim"] for v in there["template"]["spec"]["volumes"] if v["name"] == "data"]
    assert claims == [{"claimName": "old"}]


def test_notes_say_how_to_connect(helm: Any) -> None:
    plain = rendered(helm, PLAIN)["NOTES"]
    assert "http://demo-gradd.lab.svc:4733" in plain
    assert "kubectl exec -n lab demo-gradd-0 -- gradd keys create" in plain
    assert "http is not encrypted" in plain
    assert "https://demo-gradd.lab.svc:4733" in rendered(helm, RELEASES["everything"])["NOTES"]
    scraped = {**PLAIN, "metrics": {"enabled": True}}
    assert "keys create --role operator" in rendered(helm, scraped)["NOTES"]
    given = rendered(helm, {**scraped, "keys": {"existingSecret": "mine"}})["NOTES"]
    assert "Metrics are at port 9473, for an operator's key.\n" in given
    assert "keys create" not in given  # it would end with the pod


def test_the_scrapers_secret_is_the_key_alone(helm: Any, tmp_path: Path) -> None:
    """Prometheus makes no header of a key with a line's end."""
    notes = rendered(helm, {**PLAIN, "metrics": {"enabled": True}})["NOTES"]
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(f'#!/bin/sh\ntest "$1" = create && exec cat > {tmp_path}/key || echo gradd_0123\n')
    kubectl.chmod(0o755)
    environ = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    command = notes[notes.index("kubectl exec", notes.index("One as a Secret")) :]
    subprocess.run(["sh", "-euc", command], env=environ, check=True)
    assert (tmp_path / "key").read_text() == "gradd_0123"


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({}, "say tls.secretName, or insecureHttp=true"),
        ({**PLAIN, "metrics": {"enabled": True, "serviceMonitor": {"enabled": True}}}, "keySecret.name"),
        ({**PLAIN, "cluster": {"enabled": True, "tokenSecret": "token"}}, "has to be ReadWriteMany"),
        ({**RELEASES["cluster"], "cluster": {"enabled": True}}, "cluster.tokenSecret"),
        ({**RELEASES["cluster"], "gpu": {"enabled": True, "count": 2}}, "say more cluster.nodes"),
    ],
)
def test_what_is_missing_is_said(helm: Any, values: dict[str, Any], says: str) -> None:
    with pytest.raises(helm.HelmError, match=says):
        rendered(helm, values)


@pytest.mark.parametrize(
    "values",
    [
        {"replicas": 2},
        {"settings": {"host": "::"}},
        {"settings": {"Threads": 1}},
        {"settings": {"thread": 1}},
        {"persistence": {"size": "much"}},
        {"service": {"port": 0}},
        {"gpu": {"count": 0}},
        {"cluster": {"nodes": 0}},
        {"cluster": {"redis": {"address": "redis://redis:6379"}}},
        {"settings": {"placement": "ray"}},
    ],
    ids=str,
)
def test_values_that_are_none_are_refused(helm: Any, values: dict[str, Any]) -> None:
    with helm.Chart.load(CHART) as chart:
        chart.validate_schema(PLAIN)
        with pytest.raises(helm.HelmError):
            chart.validate_schema(PLAIN | values)
