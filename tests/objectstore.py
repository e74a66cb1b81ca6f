"""An object store on this machine that speaks S3, for tests; where its library is missing, they skip."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

BUCKET = "records"


class ObjectStore:
    """A server, in this process; `environ` is what programs need to reach it."""

    def __init__(self) -> None:
        pytest.importorskip("s3fs")
        self._made = pytest.importorskip("moto.server").ThreadedMotoServer
        self._server: Any = None
        self._port = 0
        self.start()
        self.environ = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._port}",
            "AWS_ACCESS_KEY_ID": "nobody",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1",
        }

    @property
    def url(self) -> str:
        """A place for what one test keeps; see `make`."""
        return f"s3://{BUCKET}/home"

    def start(self) -> None:
        """Answer, at the port that it had. What it had before `stop` it has again."""
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = self._made(ip_address="127.0.0.1", port=self._port, verbose=False)
        self._server.start()
        self._port = self._server.get_host_and_port()[1]

    def stop(self) -> None:
        """Answer no more."""
        self._server.stop()

    def make(self) -> None:
        """Begin anew, with a bucket that is empty. To be called with `environ` in place."""
        import fsspec
        from moto.moto_api._internal import moto_api_backend

        moto_api_backend.reset()
        fsspec.filesystem("s3", skip_instance_cache=True, use_listings_cache=False).mkdir(BUCKET)


@contextmanager
def serving() -> Iterator[ObjectStore]:
    """A store, for as long as a block."""
    store = ObjectStore()
    try:
        yield store
    finally:
        store.stop()


@contextmanager
def reached(store: ObjectStore) -> Iterator[ObjectStore]:
    """The store, empty, with this process's environment leading to it."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in store.environ.items():
            patch.setenv(name, value)
        import s3fs

        s3fs.S3FileSystem.clear_instance_cache()  # those lead to another store of this process
        store.make()
        yield store
