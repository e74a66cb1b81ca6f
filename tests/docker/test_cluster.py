"""The cluster of `docker/compose.cluster.yaml` and of the chart: head, nodes, and the front, a node itself.

No Ray cluster is started here; `tests/faults/test_cluster.py` has one.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from gradd_server.placement.cluster.nodes import HostShares
from gradd_server.settings import Settings

from tests.docker.test_chart import RELEASES, ROOT, environment, groups, rendered
from tests.waiting import PATIENCE

SET = yaml.safe_load((ROOT / "docker/compose.cluster.yaml").read_text())
SERVICES = SET["services"]
#: The fields of KubeRay's ray.io/v1 that the chart may use.
FIELDS = {
    "spec": {"headGroupSpec", "workerGroupSpecs", "gcsFaultToleranceOptions"},
    "head": {"rayStartParams", "template"},
    "workers": {"groupName", "replicas", "minReplicas", "maxReplicas", "rayStartParams", "template"},
}
RAY = {"RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0"}


@pytest.fixture(scope="module")
def helm() -> Any:
    return pytest.importorskip("helm_python", reason="helm-python-sdk is not installed")


@pytest.fixture(scope="module")
def flags() -> set[str]:
    """What `ray start` takes."""
    pytest.importorskip("ray", reason="ray is not installed")
    from ray.scripts.scripts import start

    return {flag for parameter in start.params for flag in parameter.opts}


def started(command: str) -> list[str]:
    """The arguments of `ray start` in a shell's command."""
    (found,) = re.findall(r"ray start ([^;|]*)", command)
    return shlex.split(found)


def test_the_set_is_locked_down_and_only_the_front_is_reached() -> None:
    for name, service in SERVICES.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["image"].endswith("-ray"), name
        assert service["build"]["args"] == {"EXTRAS": "server,ray,s3"}, name
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published == {"front": ["127.0.0.1:4733:4733"], "front2": ["127.0.0.1:4734:4733"]}


def test_the_set_has_one_token_which_all_show() -> None:
    for name in ("head", "node", "front", "front2"):
        said = SERVICES[name]["environment"]
        assert said.items() >= RAY.items()
        assert said["RAY_AUTH_TOKEN_PATH"] == "/run/gradd/ray.token"
        assert "token:/run/gradd:ro" in SERVICES[name]["volumes"]
    assert SERVICES["head"]["depends_on"]["token"]["condition"] == "service_completed_successfully"


def test_the_sets_token_is_made_once(tmp_path: Path) -> None:
    step = SERVICES["token"]
    command = [*step["entrypoint"], step["command"][0].replace("/run/gradd", str(tmp_path))]
    for _ in range(2):
        subprocess.run(command, check=True)
    token = (tmp_path / "ray.token").read_text()
    assert re.fullmatch(r"[0-9a-f]{64}\n", token)
    subprocess.run(command, check=True)
    assert (tmp_path / "ray.token").read_text() == token
    assert (tmp_path / "ray.token").stat().st_mode & 0o777 == 0o600


def test_the_set_has_records_at_the_same_path_everywhere() -> None:
    for name in ("node", "front", "front2"):
        assert "data:/var/lib/gradd" in SERVICES[name]["volumes"]
    assert SET["volumes"].keys() == {"data", "token"}
    assert SERVICES["node"]["deploy"]["replicas"] == 2


def test_the_sets_nodes_have_what_its_front_asks_for() -> None:
    settings = Settings.load({}, SERVICES["front"]["environment"])
    assert (settings.placement, settings.ray_address) == ("ray", "head:6379")
    (has,) = (json.loads(flag[12:]) for flag in SERVICES["node"]["command"] if flag[:12] == "--resources=")
    assert HostShares.parse(settings.ray_share).resources == has
    for name in ("head", "front"):
        assert "--resources" not in str(SERVICES[name]["command"])


def test_the_sets_fronts_are_alike_and_reached_by_each_other() -> None:
    said = {name: Settings.load({}, SERVICES[name]["environment"]) for name in ("front", "front2")}
    for name, settings in said.items():
        assert settings.front_address == name
    assert dataclasses.replace(said["front2"], front_address="front") == said["front"]
    assert SERVICES["front"]["command"] == SERVICES["front2"]["command"]


def test_ray_takes_the_sets_flags(flags: set[str]) -> None:
    for name in ("head", "node"):
        said = shlex.join([*SERVICES[name]["entrypoint"], *SERVICES[name]["command"]])
        assert {flag.partition("=")[0] for flag in started(said)} <= flags
    (front,) = SERVICES["front"]["command"]
    assert {flag.partition("=")[0] for flag in started(front)} <= flags


@pytest.fixture(params=["cluster", "cluster with everything"])
def release(request: pytest.FixtureRequest, helm: Any) -> dict[str, Any]:
    return rendered(helm, RELEASES[request.param])


def test_the_charts_cluster_has_fields_of_kuberays(release: dict[str, Any]) -> None:
    made = release["RayCluster"]
    assert made["apiVersion"] == "ray.io/v1"
    assert made["spec"].keys() <= FIELDS["spec"]
    head, workers = groups(release)
    assert head.keys() <= FIELDS["head"]
    assert workers.keys() <= FIELDS["workers"]
    for group in (head, workers):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())


def test_ray_takes_the_charts_flags(release: dict[str, Any], flags: set[str]) -> None:
    for group in groups(release):
        assert {f"--{name}" for name in group["rayStartParams"]} <= flags
    front = release["StatefulSet"]["spec"]["template"]["spec"]["containers"][0]
    assert {flag.partition("=")[0] for flag in started(front["args"][0])} <= flags


def test_the_charts_nodes_have_what_its_front_asks_for(release: dict[str, Any]) -> None:
    said = environment(release)
    shares = HostShares.parse(said["GRADD_RAY_SHARE"])
    head, workers = groups(release)
    has = json.loads(*shlex.split(workers["rayStartParams"]["resources"]))
    workers_each = int(said.get("GRADD_WORKERS", 1))
    assert has == {"gradd": shares.resources["gradd"] * workers_each}
    (container,) = workers["template"]["spec"]["containers"]
    assert container["resources"]["limits"].get("nvidia.com/gpu", 0) == shares.num_gpus
    assert "resources" not in head["rayStartParams"]
    assert said["GRADD_RAY_ADDRESS"] == f"{release['RayCluster']['metadata']['name']}-head-svc:6379"


def test_the_charts_token_and_volume_are_everywhere(release: dict[str, Any]) -> None:
    head, workers = (group["template"]["spec"] for group in groups(release))
    front = release["StatefulSet"]["spec"]["template"]["spec"]
    for pod in (head, workers, front):
        told = {entry["name"]: entry for entry in pod["containers"][0]["env"]}
        assert {name: told[name]["value"] for name in RAY} == RAY
        secret = told["RAY_AUTH_TOKEN"]["valueFrom"]["secretKeyRef"]
        assert secret == {"name": "token", "key": "auth_token"}
        assert {"name": "tmp", "mountPath": "/tmp"} in pod["containers"][0]["volumeMounts"]
        assert pod["containers"][0]["image"] == front["containers"][0]["image"]
    if environment(release).get("GRADD_RECORDS"):
        return
    (claim,) = (volume["persistentVolumeClaim"] for volume in workers["volumes"] if volume["name"] == "data")
    if "volumeClaimTemplates" in release["StatefulSet"]["spec"]:
        (template,) = release["StatefulSet"]["spec"]["volumeClaimTemplates"]
        assert template["spec"]["accessModes"] == ["ReadWriteMany"]
        name = release["StatefulSet"]["metadata"]["name"]
        assert claim["claimName"] == f"{template['metadata']['name']}-{name}-0"  # as Kubernetes calls it
    else:
        assert claim["claimName"] == "records"
    for pod in (workers, front):
        mount = {"name": "data", "mountPath": "/var/lib/gradd"}
        assert mount in pod["containers"][0]["volumeMounts"]


def test_the_charts_cluster_shares_an_object_store_or_a_volume(helm: Any) -> None:
    release = rendered(helm, RELEASES["cluster in an object store"])
    front = release["StatefulSet"]["spec"]["template"]["spec"]["containers"][0]
    assert environment(release)["GRADD_RECORDS"] == "s3://bucket/here"
    (template,) = release["StatefulSet"]["spec"]["volumeClaimTemplates"]
    assert template["spec"]["accessModes"] == ["ReadWriteOnce"]
    _, workers = (group["template"]["spec"] for group in groups(release))
    assert [volume["name"] for volume in workers["volumes"]] == ["tmp"]
    for container in (front, workers["containers"][0]):
        assert container["envFrom"] == [{"secretRef": {"name": "aws"}}]
    other = rendered(helm, RELEASES["cluster"])
    assert "envFrom" not in str(other)
    assert "GRADD_RECORDS" not in environment(other)


def test_the_charts_fronts_have_one_volume(helm: Any) -> None:
    release = rendered(helm, RELEASES["cluster with everything"])
    assert release["StatefulSet"]["spec"]["replicas"] == 2
    assert environment(release)["GRADD_FRONT_ADDRESS"] == "$(POD_IP)"
    assert rendered(helm, RELEASES["cluster"])["StatefulSet"]["spec"]["replicas"] == 1
    alone = {**RELEASES["cluster"], "cluster": {**RELEASES["cluster"]["cluster"], "fronts": 2}}
    with pytest.raises(Exception, match="several fronts have one volume"):
        rendered(helm, alone)


def test_the_front_has_no_gpu_and_the_head_none(helm: Any) -> None:
    release = rendered(helm, RELEASES["cluster with everything"])
    front = release["StatefulSet"]["spec"]["template"]["spec"]
    head, workers = (group["template"]["spec"] for group in groups(release))
    for pod in (front, head):
        assert "nvidia.com/gpu" not in str(pod["containers"][0]["resources"])
        assert "runtimeClassName" not in pod
    assert workers["runtimeClassName"] == "nvidia"
    assert environment(release)["GRADD_DEVICE"] == "cuda"


def test_redis_is_kuberays_to_use(helm: Any) -> None:
    spec = rendered(helm, RELEASES["cluster with everything"])["RayCluster"]["spec"]
    assert spec["gcsFaultToleranceOptions"] == {
        "redisAddress": "redis:6379",
        "redisPassword": {"valueFrom": {"secretKeyRef": {"name": "redis", "key": "password"}}},
    }
    assert "gcsFaultToleranceOptions" not in rendered(helm, RELEASES["cluster"])["RayCluster"]["spec"]


def tools(folder: Path, **scripts: str) -> Mapping[str, str]:
    """An environment where these commands are such scripts."""
    for name, script in scripts.items():
        tool = folder / name
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_a_node_that_ends_is_drained(helm: Any, tmp_path: Path) -> None:
    _, workers = groups(rendered(helm, RELEASES["cluster with everything"]))
    pod = workers["template"]["spec"]
    (container,) = pod["containers"]
    command = container["lifecycle"]["preStop"]["exec"]["command"]
    listed = r"aa\t10.0.0.1\tcuda\tprocess 7\t1 sessions\nbb\t10.0.0.12\tcuda\tprocess 7\t1 sessions\n"
    gradd = f"""test "$*" = nodes && exec printf '{listed}'; echo "$@" >> {tmp_path}/asked"""
    environ = tools(tmp_path, gradd=gradd)
    for address in ("10.0.0.1", "10.0.0.12", "10.0.0.3"):  # the last one is no node any more
        subprocess.run(command, env={**environ, "POD_IP": address}, check=True)
    assert (tmp_path / "asked").read_text() == "nodes drain aa\nnodes drain bb\n"
    assert pod["terminationGracePeriodSeconds"] == 150
    told = {entry["name"]: entry for entry in container["env"]}
    assert told["GRADD_URL"]["value"] == "https://demo-gradd.lab.svc:4733"
    assert told["GRADD_API_KEY"]["valueFrom"] == {"secretKeyRef": {"name": "operator", "key": "key"}}


@pytest.mark.parametrize("which", ["compose", "chart"])
def test_the_front_starts_its_node_again_where_it_ends(which: str, request: Any, tmp_path: Path) -> None:
    if which == "compose":
        front = SERVICES["front"]
        command = [*front["entrypoint"], front["command"][0].replace("$$", "$")]
    else:
        release = rendered(request.getfixturevalue("helm"), RELEASES["cluster"])
        front = release["StatefulSet"]["spec"]["template"]["spec"]["containers"][0]
        command = [*front["command"], *front["args"]]
    environ = tools(
        tmp_path,
        ray=f'echo "$@" >> {tmp_path}/started; exit 1',
        gradd=f'echo "$@" > {tmp_path}/served; exec sleep 600',
    )
    given = {**environ, "GRADD_RAY_ADDRESS": "head:6379", "POD_IP": "10.0.0.1"}
    with subprocess.Popen(command, env=given, start_new_session=True) as process:
        try:
            end, pause = time.monotonic() + PATIENCE, threading.Event()
            log = tmp_path / "started"
            while not (log.exists() and log.read_text().count("\n") > 1):
                assert time.monotonic() < end
                assert process.poll() is None
                pause.wait(0.05)
            assert "--address=head:6379" in log.read_text()
            assert (tmp_path / "served").read_text() == "serve\n"
        finally:
            os.killpg(process.pid, 9)
