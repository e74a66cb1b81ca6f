"""Settings: flag over environment over file over default, and what cannot be served with."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from gradd_server.commands import serving
from gradd_server.datadir import default_data_dir
from gradd_server.machine import memory_bytes
from gradd_server.settings import BadConfig, Settings, variable_of
from gradd_server.texts import is_loopback


def load(
    flags: dict[str, Any] | None = None, environ: dict[str, str] | None = None, config: Path | None = None
) -> Settings:
    return Settings.load(flags or {}, environ or {}, config)


def test_defaults() -> None:
    settings = load()
    assert (settings.host, settings.port, settings.device) == ("127.0.0.1", 4733, "cpu")
    assert settings.data_dir == default_data_dir()


def test_flag_over_environment_over_file_over_default(tmp_path: Path) -> None:
    file = tmp_path / "gradd.toml"
    file.write_text('port = 1\nlog_level = "error"\ndata_dir = "/from/file"\n')
    environ = {"GRADD_PORT": "2", "GRADD_LOG_LEVEL": "debug"}
    settings = load({"port": 3, "host": None}, environ, file)
    assert (settings.port, settings.log_level, settings.data_dir, settings.device) == (
        3,
        "debug",
        Path("/from/file"),
        "cpu",
    )


def test_engine_processes_are_asked_for() -> None:
    assert (load().workers, load().threads) == (1, 0)
    settings = load({"threads": 2}, {"GRADD_WORKERS": "3"})
    assert (settings.workers, settings.threads) == (3, 2)


def test_tenants_have_engine_processes_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, most in ((1, 2), (8, 8)):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, cores=cores: set(range(cores)))
        assert load().most_workers == most
    assert load({"workers": 9}).most_workers == 9
    assert load({"workers": 2}, {"GRADD_MAX_WORKERS": "3"}).most_workers == 3
    assert load({"device": "cuda"}).most_workers == 1


def test_engine_processes_share_memory() -> None:
    """However many there come to be: half of the machine's is for all of them."""
    for settings in (load(), load({"workers": 4}), load({"max_workers": 9})):
        rules = serving.paging_rules(settings)
        assert (rules.resident, rules.together) == (0, memory_bytes() // 2)
    rules = serving.paging_rules(load({"workers": 4, "engine_memory": 1 << 30}))
    assert (rules.resident, rules.together) == (1 << 30, 0)


def test_every_setting_has_a_variable_and_help() -> None:
    for field in dataclasses.fields(Settings):
        assert variable_of(field.name) == "GRADD_" + field.name.upper()
        assert field.metadata["help"]


def test_the_data_dir_follows_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/xdg")
    assert default_data_dir() == Path("/xdg/gradd")


@pytest.mark.parametrize(
    "environ",
    [
        {"GRADD_PORT": "x"},
        {"GRADD_PORT": "70000"},
        {"GRADD_PORT": "-1"},
        {"GRADD_DRAIN_TIMEOUT": "inf"},
        {"GRADD_DRAIN_TIMEOUT": "-1"},
        {"GRADD_LOG_LEVEL": "loud"},
        {"GRADD_DEVICE": "tpu"},
        {"GRADD_HOST": "0.0.0.0"},
        {"GRADD_HOST": "0.0.0.0", "GRADD_AUTH": "false"},
        {"GRADD_HOST": "0.0.0.0", "GRADD_AUTH": "false", "GRADD_INSECURE_HTTP": "true"},
        {"GRADD_HOST": "0.0.0.0", "GRADD_AUTH": "false", "GRADD_TLS_CERT": "c", "GRADD_TLS_KEY": "k"},
        {"GRADD_AUTH": "false", "GRADD_FORWARDED_ALLOW_IPS": "127.0.0.1"},
        {"GRADD_AUTH": "false", "GRADD_ALLOWED_HOSTS": "gpu.example.org"},
        {"GRADD_AUTH": "false", "GRADD_ROOT_PATH": "/gradd"},
        {"GRADD_AUTH": "maybe"},
        {"GRADD_TLS_CERT": "c"},
        {"GRADD_TLS_KEY": "k"},
        {"GRADD_ROOT_PATH": "gradd"},
        {"GRADD_ROOT_PATH": "/gradd/"},
        {"GRADD_ALLOWED_HOSTS": "http://gpu"},
        {"GRADD_ALLOWED_HOSTS": "::1"},
        {"GRADD_FORWARDED_ALLOW_IPS": "proxy"},
        {"GRADD_WORKERS": "-1"},
        {"GRADD_WORKERS": "3", "GRADD_MAX_WORKERS": "2"},
        {"GRADD_WORKERS": "0", "GRADD_MAX_WORKERS": "2"},
        {"GRADD_DEVICE": "cuda", "GRADD_MAX_WORKERS": "2"},
        {"GRADD_WORKERS": "many"},
        {"GRADD_WORKERS": "1025"},
        {"GRADD_WORKERS": "1", "GRADD_THREADS": "x"},
        {"GRADD_WORKERS": "0", "GRADD_THREADS": "2"},
        {"GRADD_WORKERS": "2", "GRADD_DEVICE": "cuda"},
    ],
)
def test_bad_environment(environ: dict[str, str]) -> None:
    with pytest.raises(BadConfig):
        load(environ=environ)


@pytest.mark.parametrize("text", ["port = ", "prot = 1", "port = 'x'", "\x00"])
def test_bad_files(tmp_path: Path, text: str) -> None:
    file = tmp_path / "gradd.toml"
    file.write_text(text)
    with pytest.raises(BadConfig, match=str(file)):
        load(config=file)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadConfig):
        load(config=tmp_path / "none.toml")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.10", "::1", "[::1]"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "192.168.0.1", "example.org", "", "localhost.evil.example"]
)
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    "environ",
    [
        {"GRADD_INSECURE_HTTP": "1"},
        {"GRADD_TLS_CERT": "c", "GRADD_TLS_KEY": "k"},
    ],
)
def test_beyond_loopback_with_tls_or_on_purpose(environ: dict[str, str]) -> None:
    assert load(environ={"GRADD_HOST": "192.0.2.1", **environ}).auth


def test_the_hosts_that_a_daemon_answers_to() -> None:
    own = {"localhost", "127.0.0.1", "[::1]"}
    assert load().hosts == own
    reach = {"GRADD_INSECURE_HTTP": "true"}
    assert load(environ={**reach, "GRADD_HOST": "192.0.2.1"}).hosts == own | {"192.0.2.1"}
    assert load(environ={**reach, "GRADD_HOST": "2001:db8::1"}).hosts == own | {"[2001:db8::1]"}
    assert load(environ={**reach, "GRADD_HOST": "0.0.0.0"}).hosts == own
    assert load(environ={"GRADD_ALLOWED_HOSTS": "GPU.example.org, b"}).hosts == own | {"gpu.example.org", "b"}
