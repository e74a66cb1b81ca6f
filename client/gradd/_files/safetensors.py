"""Files in the safetensors layout (`gradd_protocol.safetensors`), written and read tensor by tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from gradd_protocol import dtypes
from gradd_protocol.safetensors import StoredTensor, head, header_size, order, read_head

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def write(
    file: BinaryIO,
    tensors: Mapping[str, tuple[str, tuple[int, ...]]],
    values: Callable[[str], np.ndarray[Any, Any]],
    metadata: Mapping[str, str],
) -> None:
    """Write a file of `tensors`, name to (dtype, shape); `values` is called for each one's data, in order."""
    names = order(tensors)
    file.write(head({name: tensors[name] for name in names}, metadata))
    for name in names:
        row = dtypes.BY_NAME[tensors[name][0]]
        file.write(np.ascontiguousarray(values(name), row.numpy.newbyteorder("<")).tobytes())


def read_header(file: BinaryIO) -> tuple[dict[str, StoredTensor], dict[str, str]]:
    """The tensors and the metadata of a file; ValueError if it is malformed."""
    begin = file.tell()
    first = file.read(8)
    total = file.seek(0, 2) - begin
    size = header_size(first, total)
    file.seek(begin + 8)
    found, notes = read_head(file.read(size), total)
    return {name: entry._replace(start=begin + entry.start) for name, entry in found.items()}, notes


def read(file: BinaryIO, entry: StoredTensor) -> np.ndarray[Any, Any]:
    """The values of a tensor; ValueError if the file ends too early."""
    file.seek(entry.start)
    data = file.read(entry.nbytes)
    if len(data) != entry.nbytes:
        raise ValueError("the file ends inside a tensor")
    return entry.array(data)
