"""Protocol buffers of TensorBoard from arrays."""

from __future__ import annotations

import io
from importlib import import_module
from typing import Any

import numpy as np

from ..._tensor import Tensor

_summary = import_module("tensorboard.compat.proto.summary_pb2")
_tensor = import_module("tensorboard.compat.proto.tensor_pb2")
_shape = import_module("tensorboard.compat.proto.tensor_shape_pb2")
_types = import_module("tensorboard.compat.proto.types_pb2")
_hparams = import_module("tensorboard.plugins.hparams.api_pb2")
_hparams_data = import_module("tensorboard.plugins.hparams.plugin_data_pb2")


def array(x: Any) -> Any:
    """Numbers as an array; a tensor's are fetched."""
    if isinstance(x, Tensor):
        x = x.detach()
        return (x.float() if x.dtype.is_half else x).cpu().numpy()
    return np.asarray(x)


def scalar(tag: str, value: Any) -> Any:
    """One number. AssertionError for more."""
    found = array(value).squeeze()
    if found.ndim:
        raise AssertionError(
            f"Tensor should contain one element (0 dimensions). Was given size: {found.size} and "
            f"{found.ndim} dimensions."
        )
    return _of(tag, simple_value=float(found))


def histogram(tag: str, values: Any, bins: Any, max_bins: int | None) -> Any:
    """How values are distributed. ValueError where there are none."""
    if bins == "tensorflow":
        steps = 1e-12 * 1.1 ** np.arange(int(np.ceil(np.log(1e32) / np.log(1.1))))
        bins = np.concatenate([-steps[::-1], [0.0], steps])
    values = array(values).reshape(-1).astype(np.float64)
    if not values.size:
        raise ValueError("The input has no element.")
    counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        every = -(-len(counts) // max_bins)
        counts = np.add.reduceat(counts, np.arange(0, len(counts), every))
        limits = np.append(limits[:-1][::every], limits[-1])
    full = np.flatnonzero(counts)
    if not full.size:
        raise ValueError("The histogram is empty, please file a bug report.")
    first, last = full[0], full[-1] + 1
    # One empty bucket before what is counted, as TensorBoard draws lines between limits.
    counted = np.concatenate([[0], counts[first:last]])
    made = _summary.HistogramProto(
        min=values.min(), max=values.max(), num=len(values), sum=values.sum(), sum_squares=values @ values,
        bucket_limit=limits[first : last + 1].tolist(), bucket=counted.tolist(),
    )  # fmt: skip
    return _of(tag, histo=made)


def image(tag: str, pixels: Any, form: str) -> Any:
    """One image; of several, those of a batch, a grid. Floats are of 0 to 1, integers of 0 to 255."""
    found = array(pixels)
    if found.ndim != len(form):
        raise AssertionError(
            f"size of input tensor and input format are different.         tensor shape: {found.shape}, "
            f"input_format: {form}"
        )
    scale = 1 if found.dtype == np.uint8 else 255
    found = _laid_out(found.astype(np.float32), form.upper())
    found = (found * scale).clip(0, 255).astype(np.uint8)
    height, width, depth = found.shape
    png = io.BytesIO()
    import_module("PIL.Image").fromarray(found).save(png, format="PNG")
    return _of(
        tag,
        image=_summary.Summary.Image(
            height=height, width=width, colorspace=depth, encoded_image_string=png.getvalue()
        ),
    )


def _laid_out(a: Any, form: str) -> Any:
    """As height, width, three colours; a batch as a grid of at most eight in a row."""
    if "N" in form:
        a = a.transpose([form.index(c) for c in "NHWC"])
        n, height, width, depth = a.shape
        across = min(n, 8)
        down = -(-n // across)
        grid = np.zeros((down * height, across * width, depth), a.dtype)
        for i, one in enumerate(a):
            y, x = divmod(i, across)
            grid[y * height : (y + 1) * height, x * width : (x + 1) * width] = one
        a = grid
    elif form == "HW":
        a = a[:, :, None]
    else:
        a = a.transpose([form.index(c) for c in "HWC"])
    return np.repeat(a, 3, 2) if a.shape[2] == 1 else a


def text(tag: str, words: str) -> Any:
    """A text in Markdown."""
    made = _tensor.TensorProto(
        dtype=_types.DT_STRING,
        string_val=[words.encode()],
        tensor_shape=_shape.TensorShapeProto(dim=[_shape.TensorShapeProto.Dim(size=1)]),
    )
    return _of(f"{tag}/text_summary", metadata=_plugin("text", b""), tensor=made)


def hparams(given: Any, metrics: Any) -> list[Any]:
    """What a run was given, and the names of what it measured: three summaries."""
    if not isinstance(given, dict) or not isinstance(metrics, dict):
        raise TypeError("parameter: hparam_dict and metric_dict should be dictionary")
    infos = [_hparams.HParamInfo(name=name, type=_kind(value)) for name, value in given.items()]
    named = [_hparams.MetricInfo(name=_hparams.MetricName(tag=tag)) for tag in metrics]
    start = _hparams_data.SessionStartInfo()
    for name, value in given.items():
        kind = _kind(value)
        if kind == _hparams.DATA_TYPE_BOOL:
            start.hparams[name].bool_value = bool(value)
        elif kind == _hparams.DATA_TYPE_FLOAT64:
            start.hparams[name].number_value = float(array(value))
        else:
            start.hparams[name].string_value = str(value)
    parts = {
        "experiment": _hparams.Experiment(hparam_infos=infos, metric_infos=named),
        "session_start_info": start,
        "session_end_info": _hparams_data.SessionEndInfo(status=_hparams.STATUS_SUCCESS),
    }
    return [
        _of(
            f"_hparams_/{name}",
            metadata=_plugin(
                "hparams", _hparams_data.HParamsPluginData(version=0, **{name: part}).SerializeToString()
            ),
        )
        for name, part in parts.items()
    ]


def _kind(value: Any) -> Any:
    if isinstance(value, bool):
        return _hparams.DATA_TYPE_BOOL
    if isinstance(value, (int, float, np.number, Tensor)):
        return _hparams.DATA_TYPE_FLOAT64
    return _hparams.DATA_TYPE_STRING


def _plugin(name: str, content: bytes) -> Any:
    data = _summary.SummaryMetadata.PluginData(plugin_name=name, content=content)
    return _summary.SummaryMetadata(plugin_data=data)


def _of(tag: str, **parts: Any) -> Any:
    return _summary.Summary(value=[_summary.Summary.Value(tag=tag, **parts)])
