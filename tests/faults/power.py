"""A session whose machine may lose power: it runs in a process in which each fsync is noted, with what it
made safe, so that any moment can be gone back to with all else lost.

`python -m tests.faults.power HOME LEVEL` hosts one: it reads frames and writes replies, each behind its
length.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from gradd_engine.backends.array import NUMPY
from gradd_protocol import frames
from gradd_runtime.process import Hosted
from gradd_server.folder_stores import FolderStores

#: Preloaded. Of the n-th fsync it leaves `<n>-<inode>-f`, a file as it was then, or `<n>-<inode>-d`, what is
#: in a folder: inode, whether it is a folder, name.
SHIM = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int count;

static void note(int fd) {
    struct stat about;
    char new[4096], path[4096], buffer[65536];
    if (fstat(fd, &about)) abort();
    const char *home = getenv("FSYNCS");
    int folder = S_ISDIR(about.st_mode);
    snprintf(new, sizeof new, "%s/new", home);
    unsigned long inode = about.st_ino;
    snprintf(path, sizeof path, "%s/%06d-%lu-%c", home, ++count, inode, folder ? 'd' : 'f');
    FILE *out = fopen(new, "w");
    if (!out) abort();
    if (folder) {
        DIR *names = fdopendir(openat(fd, ".", O_RDONLY | O_DIRECTORY));
        for (struct dirent *one; (one = readdir(names));)
            if (one->d_name[0] != '.')
                fprintf(out, "%lu %d %s\n", one->d_ino, one->d_type == DT_DIR, one->d_name);
        closedir(names);
    } else {
        snprintf(buffer, sizeof buffer, "/proc/self/fd/%d", fd);
        int in = open(buffer, O_RDONLY);
        for (ssize_t size; (size = read(in, buffer, sizeof buffer)) > 0;) fwrite(buffer, 1, size, out);
        close(in);
    }
    if (fclose(out) || rename(new, path)) abort();
}

#define NOTED(name) \
    int name(int fd) { \
        int (*real)(int) = dlsym(RTLD_NEXT, #name); \
        int found = real(fd); \
        if (!found) note(fd); \
        return found; \
    }
NOTED(fsync)
NOTED(fdatasync)
"""


class Machine:
    """A machine with one session. `home` is for its files, and for notes of what was made safe."""

    def __init__(self, home: Path, level: str) -> None:
        self._home, self._notes = home / "sessions", home / "notes"
        self._notes.mkdir()
        source, shim = home / "shim.c", home / "shim.so"
        source.write_text(SHIM)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.power", str(self._home), level],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "LD_PRELOAD": str(shim), "FSYNCS": str(self._notes)},
        )  # fmt: skip

    def submit(self, frame: bytes) -> bytes:
        """The reply to a frame."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        _write(self._process.stdin, frame)
        (reply,) = _read(self._process.stdout, 1)
        return reply

    @property
    def safe(self) -> int:
        """How many fsyncs there were."""
        return len([note for note in self._notes.iterdir() if note.name != "new"])

    def end(self) -> None:
        """Let it end."""
        self._process.communicate()
        assert self._process.returncode == 0

    def lost_power(self, after: int, into: Path) -> None:
        """Make in `into` the files that there are where power was lost after so many fsyncs, and all that
        was written otherwise with it.
        """
        files: dict[str, Path] = {}
        folders: dict[str, Path] = {}
        for note in sorted(self._notes.iterdir())[:after]:
            _, inode, kind = note.name.split("-")
            (files if kind == "f" else folders)[inode] = note
        _lay(str(self._home.stat().st_ino), into, files, folders)


def _lay(inode: str, path: Path, files: dict[str, Path], folders: dict[str, Path]) -> None:
    path.mkdir()
    names = folders[inode].read_text().splitlines() if inode in folders else []
    for inner, is_folder, name in (line.split(" ", 2) for line in names):
        if is_folder == "1":
            _lay(inner, path / name, files, folders)
        elif inner in files:
            shutil.copyfile(files[inner], path / name)
        else:
            (path / name).touch()


def _write(sink: IO[bytes], data: bytes) -> None:
    sink.write(len(data).to_bytes(8, "little") + data)
    sink.flush()


def _read(source: IO[bytes], most: int = 1 << 62) -> Iterator[bytes]:
    while most and (size := source.read(8)):
        yield source.read(int.from_bytes(size, "little"))
        most -= 1


def _main(home: str, level: str) -> None:
    options = {"durability": level}
    record = FolderStores(Path(home)).make("default", "kept", options)
    host = Hosted("kept", {**options, "store": str(record)}, NUMPY)
    for frame in _read(sys.stdin.buffer):
        while not host.wake():
            pass
        _write(sys.stdout.buffer, frames.join(host.answer(memoryview(bytearray(frame)))))
    host.close()


if __name__ == "__main__":
    _main(*sys.argv[1:])
