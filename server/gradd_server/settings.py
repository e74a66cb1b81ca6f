"""The daemon's settings, from flags, `GRADD_*` variables, the TOML file and defaults, in this order.

Each field is a setting with the flag `--name-with-dashes`, the variable `GRADD_NAME` and the TOML key `name`.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gradd_server import texts
from gradd_server.datadir import default_data_dir
from gradd_server.machine import memory_bytes, most_files, processor_budgets

MOST_BYTES = 1 << 40
"""A session's quota where only the device knows what it has."""
MOST_CONNECTIONS = 10_000
"""Unless more are asked for."""
LEAST_TRAFFIC = 512 << 20
"""Bytes of requests and answers under way, on however small a machine."""
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
Parse = Callable[[str], Any]


class BadConfig(ValueError):
    """An invalid setting; the command exits with 78."""


def _said(parse: Parse, help: str, metavar: str = "", repeat: bool = False) -> Mapping[str, Any]:
    return {"parse": parse, "help": help, "metavar": metavar, "repeat": repeat}


def _setting(default: Any, parse: Parse, help: str, metavar: str = "", repeat: bool = False) -> Any:
    return dataclasses.field(default=default, metadata=_said(parse, help, metavar, repeat))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings of `gradd serve`; durations are in seconds. `load` builds them from the four sources."""

    host: str = _setting("127.0.0.1", str, "address to listen on; beyond loopback with TLS only", "ADDRESS")
    port: int = _setting(4733, texts.port, "port to listen on; 0 takes a free one", "PORT")
    data_dir: Path = dataclasses.field(
        default_factory=default_data_dir,
        metadata=_said(texts.path, "where the daemon keeps its data (mode 0700)", "DIR"),
    )
    auth: bool = _setting(
        True, texts.switch, "ask for an API key; without, on loopback only, every local user can connect"
    )
    insecure_http: bool = _setting(
        False, texts.switch, "listen beyond loopback without TLS: who listens in reads keys and tensors"
    )
    tls_cert: Path | None = dataclasses.field(
        default=None,
        metadata=_said(
            texts.path,
            "certificate (PEM, with its chain) to serve https with; read again when it changes",
            "FILE",
        ),
    )
    tls_key: Path | None = dataclasses.field(
        default=None, metadata=_said(texts.path, "the certificate's private key (PEM)", "FILE")
    )
    allowed_hosts: str = _setting(
        "",
        texts.host_names,
        "names beside localhost and its addresses by which the daemon is called, with commas; * for any",
        "NAMES",
    )
    allow_origin: str = _setting(
        "",
        texts.origins,
        "origin, as https://app.example, whose pages may call the daemon from a browser (CORS); may be given "
        "several times, or with commas; * for any",
        "ORIGIN",
        repeat=True,
    )
    root_path: str = _setting(
        "", texts.root_path, "path under which a proxy serves the daemon, as /gradd", "PATH"
    )
    forwarded_allow_ips: str = _setting(
        "", texts.addresses, "proxies whose X-Forwarded-For and -Proto are believed, with commas", "ADDRESSES"
    )
    device: str = _setting(
        "cpu",
        texts.device,
        "what sessions run on: cpu, cuda (all GPUs), cuda:1, or several as cuda:0,cuda:1; on a cluster also "
        "cuda,cpu: nodes with GPUs and without, of which the first is for who asks for none",
        "DEVICE",
    )
    placement: str = _setting(
        "workers",
        texts.placement,
        "where engine processes run: workers (on this machine) or ray (on the nodes of a Ray cluster)",
        "WHERE",
    )
    ray_address: str = _setting(
        "",
        texts.plain,
        "the Ray cluster's address, as ray.init takes it; empty: the one of this node",
        "ADDRESS",
    )
    ray_share: str = _setting(
        "",
        texts.shares,
        "what the engine processes of a node ask Ray for: num_cpus=2,num_gpus=1,memory=8e9,LABEL=1; nodes "
        "that lack it have none",
        "AMOUNTS",
    )
    node_silence_seconds: float = _setting(
        10.0, texts.seconds, "seconds without a sign of life after which a node's sessions go to others", "S"
    )
    front_address: str = _setting(
        "",
        texts.reached,
        "where other fronts of the cluster reach this one; empty: at --host and --port, or by the machine's "
        "name",
        "HOST[:PORT]",
    )
    records: str = _setting(
        "",
        texts.object_url,
        "an object store where the cluster's sessions are kept, as s3://bucket/prefix; empty: in the data "
        "directory, which all nodes have to see then",
        "URL",
    )
    workers: int = _setting(
        1, texts.count, "engine processes of a tenant's sessions; 0 runs all in the daemon's own", "N"
    )
    max_workers: int = _setting(
        0,
        texts.count,
        "engine processes in all: tenants share none as long as there are enough; 0 is one for each core, at "
        "least two",
        "M",
    )
    threads: int = _setting(
        0, texts.count, "compute threads of each engine process; 0 shares the cores out among them", "T"
    )
    admin: str = _setting(
        "",
        texts.listener,
        "where to serve /metrics to operators, a port of its own or unix:/PATH; beyond loopback as --host",
        "ADDRESS:PORT",
    )
    traces: str = _setting(
        "",
        texts.collector,
        "OpenTelemetry collector that gets a span of each request and batch over OTLP/HTTP, as "
        "http://127.0.0.1:4318; needs the extra otel",
        "URL",
    )
    log_level: str = _setting("info", texts.log_level, f"one of {', '.join(texts.LOG_LEVELS)}", "LEVEL")
    log_format: str = _setting(
        "auto", texts.log_format, "json or text; auto: text on a terminal, else JSON", "FORMAT"
    )
    log_file: str = _setting("", str, "file to append the log to, instead of standard error", "FILE")
    drain_timeout: float = _setting(
        30.0, texts.seconds, "longest wait for work in flight at SIGTERM", "SECONDS"
    )
    body_timeout: float = _setting(
        10.0, texts.seconds, "longest wait for a body, beside what it takes at 64 KiB/s", "SECONDS"
    )
    stream_ping_seconds: float = _setting(
        20.0,
        texts.seconds,
        "time between pings of a stream, which ends where they stay unanswered",
        "SECONDS",
    )
    anonymous_stream_seconds: float = _setting(
        60.0, texts.seconds, "life of an anonymous session after its last stream dropped", "SECONDS"
    )
    anonymous_idle_seconds: float = _setting(
        1800.0, texts.seconds, "life of an anonymous session that is idle over http", "SECONDS"
    )
    idle_seconds: float = _setting(
        300.0,
        texts.seconds,
        "how long a named session stays in memory that nobody asks for anything; 0: for ever",
        "SECONDS",
    )
    engine_memory: int = _setting(
        0,
        texts.nbytes,
        "memory of an engine process above which idle sessions leave it, as 8GiB; 0: half of the machine's "
        "for all of them together",
        "BYTES",
    )
    engine_silence_seconds: float = _setting(
        30.0,
        texts.seconds,
        "how long an engine process may neither answer nor compute before it is killed and replaced; 0 waits "
        "for ever",
        "SECONDS",
    )
    process_bytes: int = _setting(
        0,
        texts.nbytes,
        "what the sessions of an engine process may hold, beside the 4/5 of the memory that those of all "
        "share; 0: as much",
        "BYTES",
    )
    tenant_bytes: int = _setting(
        0, texts.nbytes, "the same of one tenant; 0: three quarters of the process's", "BYTES"
    )
    session_bytes: int = _setting(
        0, texts.nbytes, "a session's quota, and the largest that it may ask for; 0: the tenant's", "BYTES"
    )
    sessions: int = _setting(10_000, texts.number, "sessions that there may be", "N")
    tenant_sessions: int = _setting(1000, texts.number, "sessions that a tenant may have", "N")
    connections: int = _setting(
        0, texts.number, "connections that there may be; 0: 10000, or 3/4 of the files that can be open", "N"
    )
    tenant_connections: int = _setting(
        0, texts.number, "connections that a tenant may have; 0: half of all", "N"
    )
    tenant_disk_bytes: int = _setting(
        0, texts.nbytes, "what a tenant's sessions may take of the disk; 0: three quarters of it", "BYTES"
    )
    disk_free_bytes: int = _setting(
        0,
        texts.nbytes,
        "room to be left on the data directory's disk; 0: a hundredth, 1 GiB at most",
        "BYTES",
    )
    traffic_bytes: int = _setting(
        0,
        texts.nbytes,
        "what all requests and answers under way may hold, as 1GiB; 0: an eighth of the memory",
        "BYTES",
    )
    tenant_traffic_bytes: int = _setting(0, texts.nbytes, "the same of one tenant; 0: half of all", "BYTES")
    max_batch_seconds: float = _setting(
        0.0, texts.seconds, "longest that a batch may run before it is stopped; 0 sets no limit", "SECONDS"
    )
    cancel_grace: float = _setting(
        5.0,
        texts.seconds,
        "how long a batch that was to stop may go on before its engine process is replaced, if all sessions "
        "there are kept; 0 waits for ever",
        "SECONDS",
    )
    upload_wait_seconds: float = _setting(
        30.0, texts.seconds, "longest wait of a stream's batch for an upload that it names", "SECONDS"
    )

    @classmethod
    def load(
        cls, flags: Mapping[str, Any], environ: Mapping[str, str], config: Path | None = None
    ) -> Settings:
        """Settings from parsed `flags` (absent or None if not given), `environ` and a TOML file.

        Raises BadConfig for an unreadable file, an unknown key, or a value of the wrong type.
        """
        return cls.load_with_sources(flags, environ, config)[0]

    @classmethod
    def load_with_sources(
        cls, flags: Mapping[str, Any], environ: Mapping[str, str], config: Path | None = None
    ) -> tuple[Settings, dict[str, str]]:
        """`load`, and where each setting comes from: `--its-flag`, its variable, the file or `default`."""
        known = {field.name for field in dataclasses.fields(cls)}
        file = _parsed(lambda text: texts.toml(Path(text), known), str(config), str(config)) if config else {}
        values: dict[str, Any] = {}
        sources = dict.fromkeys((field.name for field in dataclasses.fields(cls)), "default")
        for field in dataclasses.fields(cls):
            variable = variable_of(field.name)
            parse = field.metadata["parse"]
            if flags.get(field.name) is not None:
                values[field.name] = texts.joined(flags[field.name])
                sources[field.name] = "--" + field.name.replace("_", "-")
            elif variable in environ:
                values[field.name] = _parsed(parse, environ[variable], variable)
                sources[field.name] = variable
            elif field.name in file:
                values[field.name] = _parsed(
                    parse, str(texts.joined(file[field.name])), f"{config}: {field.name}"
                )
                sources[field.name] = str(config)
        settings = cls(**values)
        settings._check_reach()
        if settings.threads and not settings.workers:
            raise BadConfig(
                f"--threads {settings.threads} is for engine processes, and there are none: --workers 1"
            )
        if max(settings.workers, settings.max_workers) > 1 and "cpu" not in settings.devices:
            flag = "workers" if settings.workers > 1 else "max-workers"
            count = max(settings.workers, settings.max_workers)
            raise BadConfig(f"--{flag} {count}: each GPU has one engine process (--device {settings.device})")
        if len(settings.devices) > 1 and not settings.workers:
            raise BadConfig(f"--workers 0: the daemon's own process has one GPU, not {settings.device}")
        if settings.placement == "ray":
            settings._check_cluster()
        elif {"cpu", "cuda"} <= {*settings.devices}:
            raise BadConfig(f"--device {settings.device}: several kinds of device are for --placement ray")
        elif settings.ray_address or settings.ray_share or settings.front_address or settings.records:
            raise BadConfig("--ray-address, --ray-share, --front-address, --records are for --placement ray")
        if settings.max_workers and not 0 < settings.workers <= settings.max_workers:
            raise BadConfig(
                f"--max-workers {settings.max_workers} is for engine processes in all, and there are "
                f"--workers {settings.workers} for a tenant"
            )
        return settings, sources

    def _check_cluster(self) -> None:
        if not self.workers:
            raise BadConfig("--workers 0: on a cluster there is an engine process on each node at least")
        if ":" in self.device:
            raise BadConfig(
                f"--device {self.device}: on a cluster Ray says which GPU is whose (--device cuda)"
            )

    @property
    def devices(self) -> list[str]:
        """What sessions run on."""
        return self.device.split(",")

    @property
    def hosts(self) -> frozenset[str]:
        """What the Host header may name, in lower case; `*` stands for anything."""
        said = {name.strip().lower() for name in self.allowed_hosts.split(",") if name.strip()}
        host = f"[{self.host.strip('[]')}]" if ":" in self.host else self.host
        return frozenset({*LOOPBACK_HOSTS, *said, *({host.lower()} - {"0.0.0.0", "[::]"})})

    @property
    def origins(self) -> frozenset[str]:
        """Whose pages may call the daemon beside its own, in lower case; `*` stands for any."""
        return frozenset(filter(None, self.allow_origin.split(",")))

    @property
    def budgets(self) -> tuple[int, int, int]:
        """Bytes that the sessions of an engine process, those of a tenant there, and those of all engine
        processes may hold; 0: a share of what the device has.
        """
        if self.device != "cpu":
            return self.process_bytes, self.tenant_bytes, 0
        return processor_budgets(self.process_bytes, self.tenant_bytes)

    @property
    def most_session_bytes(self) -> int:
        """The largest quota of a session, and its default."""
        return self.session_bytes or self.budgets[1] or MOST_BYTES

    def disk_limits(self, total: int) -> tuple[int, int]:
        """Bytes of a tenant's sessions on a disk of `total`, and those that are to stay free."""
        return self.tenant_disk_bytes or total * 3 // 4, self.disk_free_bytes or min(total // 100, 1 << 30)

    @property
    def most_connections(self) -> int:
        """Connections that may be open."""
        return self.connections or min(MOST_CONNECTIONS, most_files() * 3 // 4)

    @property
    def most_tenant_connections(self) -> int:
        """Those of a tenant."""
        return self.tenant_connections or self.most_connections // 2

    @property
    def most_traffic(self) -> int:
        """Bytes of all requests and answers under way."""
        return self.traffic_bytes or max(LEAST_TRAFFIC, memory_bytes() // 8)

    @property
    def most_tenant_traffic(self) -> int:
        """Bytes of a tenant's."""
        return self.tenant_traffic_bytes or self.most_traffic // 2

    @property
    def most_workers(self) -> int:
        """How many engine processes there may be."""
        if self.device != "cpu":
            return self.workers
        return self.max_workers or max(2, self.workers, len(os.sched_getaffinity(0)))

    @property
    def all_engine_memory(self) -> int:
        """Bytes of all engine processes above which sessions leave their memory; 0 where each has its own
        limit.
        """
        return 0 if self.engine_memory else memory_bytes() // 2

    @property
    def admin_address(self) -> tuple[str, int]:
        """Host and port of the admin listener; empty where there is none, or at a Unix socket."""
        if not self.admin or self.admin.startswith("unix:"):
            return "", 0
        host, _, port = self.admin.rpartition(":")
        return host, int(port)

    @property
    def tls(self) -> bool:
        """Whether the daemon itself serves https."""
        return self.tls_cert is not None

    def _check_reach(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise BadConfig("--tls-cert and --tls-key go together")
        admin_host = self.admin_address[0]
        local = texts.is_loopback(self.host)
        if not self.auth and not local:
            raise BadConfig(
                f"--no-auth with --host {self.host}: without authentication the daemon listens on loopback "
                "only (127.0.0.1, ::1 or localhost)"
            )
        if "*" in self.origins and len(self.origins) > 1:
            raise BadConfig(
                f"--allow-origin {self.allow_origin}: * lets pages of any origin call, so it stands alone"
            )
        if "*" in self.origins and not self.auth:
            raise BadConfig(
                "--allow-origin * with --no-auth: any page that a local browser opens would do what it likes "
                "here; name the origins"
            )
        if not self.auth and (self.forwarded_allow_ips or self.allowed_hosts or self.root_path):
            raise BadConfig("--no-auth behind a proxy would let in whoever reaches the proxy")
        if self.admin_address[1] and self.admin_address[1] == self.port:
            raise BadConfig(f"--admin {self.admin}: the admin listener has a port of its own")
        if admin_host and not texts.is_loopback(admin_host):
            if not self.auth:
                raise BadConfig(f"--no-auth with --admin {self.admin}: loopback only, or a Unix socket")
            if not (self.tls or self.insecure_http):
                raise BadConfig(
                    f"--admin {self.admin} without TLS: keys would cross the network in the clear"
                )
        if not (local or self.tls or self.insecure_http):
            raise BadConfig(
                f"--host {self.host} without TLS: keys and tensors would cross the network in the clear. "
                "Give --tls-cert and --tls-key, or --insecure-http where the network is your own; or stay on "
                "loopback, behind a proxy or an SSH tunnel"
            )


def variable_of(name: str) -> str:
    """The environment variable of the setting `name`."""
    return "GRADD_" + name.upper()


def _parsed(parse: Callable[[str], Any], text: str, source: str) -> Any:
    try:
        return parse(text)
    except ValueError as bad:
        raise BadConfig(f"{source}: {bad}") from None
