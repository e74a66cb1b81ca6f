"""SummaryWriter: what a script logs, as events in a folder."""

from __future__ import annotations

import os
import socket
import time
import warnings
from importlib import import_module
from typing import Any, NoReturn

from . import summaries

_event = import_module("tensorboard.compat.proto.event_pb2")
_files = import_module("tensorboard.summary.writer.event_file_writer")


class SummaryWriter:
    """Writes what TensorBoard shows to `log_dir`
    (https://docs.pytorch.org/docs/stable/tensorboard.html#torch.utils.tensorboard.writer.SummaryWriter).

    Values may be tensors, which are fetched, arrays or numbers. Without a `log_dir` it is
    ``runs/<time>_<host>`` and `comment`. Graphs of models are not written.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            now = time.strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self._options = (max_queue, flush_secs, filename_suffix)
        self._writers: dict[str, Any] = {}
        self._write(_event.Event(file_version="brain.Event:2"), purge_step)
        if purge_step is not None:
            session = _event.SessionLog(status=_event.SessionLog.START)
            self._write(_event.Event(session_log=session), purge_step)

    def get_logdir(self) -> str:
        """The folder that is written to."""
        return self.log_dir

    def _write(self, event: Any, step: Any = None, walltime: float | None = None, under: str = "") -> None:
        folder = os.path.join(self.log_dir, under) if under else self.log_dir
        if folder not in self._writers:
            self._writers[folder] = _files.EventFileWriter(folder, *self._options)
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self._writers[folder].add_event(event)

    def _add(self, summary: Any, step: Any, walltime: float | None, under: str = "") -> None:
        self._write(_event.Event(summary=summary), step, walltime, under)

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: Any = None, walltime: float | None = None,
        new_style: bool = False, double_precision: bool = False,
    ) -> None:  # fmt: skip
        """One number. AssertionError for several."""
        self._add(summaries.scalar(tag, scalar_value), global_step, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: Any = None,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """Numbers that are shown in one chart, each in a folder of its own."""
        for tag, value in tag_scalar_dict.items():
            under = f"{main_tag.replace('/', '_')}_{tag}"
            self._add(summaries.scalar(main_tag, value), global_step, walltime, under)

    def add_histogram(
        self, tag: str, values: Any, global_step: Any = None, bins: Any = "tensorflow",
        walltime: float | None = None, max_bins: int | None = None,
    ) -> None:  # fmt: skip
        """How values are distributed. ValueError where there are none."""
        self._add(summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_image(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:  # fmt: skip
        """An image, floats of 0 to 1 or uint8; needs Pillow."""
        self._add(summaries.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:  # fmt: skip
        """A batch of images as a grid; needs Pillow."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True,
        walltime: float | None = None,
    ) -> None:  # fmt: skip
        """A figure of matplotlib as an image; `close` it then. NotImplementedError for several at once."""
        if isinstance(figure, list):
            raise NotImplementedError("add_figure() of several figures is not yet supported by gradd")
        canvas = import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
        canvas.draw()
        pixels = summaries.array(canvas.buffer_rgba())[:, :, :3]
        if close:
            import_module("matplotlib.pyplot").close(figure)
        self.add_image(tag, pixels, global_step, walltime, "HWC")

    def add_text(
        self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None
    ) -> None:
        """A text in Markdown."""
        self._add(summaries.text(tag, text_string), global_step, walltime)

    def add_hparams(
        self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any], hparam_domain_discrete: Any = None,
        run_name: str | None = None, global_step: Any = None,
    ) -> None:  # fmt: skip
        """What a run was given and what came of it, in a folder of its own. TypeError for no dicts."""
        under = str(time.time()) if run_name is None else run_name
        for summary in summaries.hparams(hparam_dict, metric_dict):
            self._add(summary, None, None, under)
        for tag, value in metric_dict.items():
            self._add(summaries.scalar(tag, value), global_step, None, under)

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """Has no effect but a warning: gradd traces no modules."""
        warnings.warn("add_graph() writes nothing: gradd traces no modules", UserWarning, stacklevel=2)

    def add_embedding(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise NotImplementedError."""
        raise NotImplementedError("add_embedding() is not yet supported by gradd")

    def add_pr_curve(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise NotImplementedError."""
        raise NotImplementedError("add_pr_curve() is not yet supported by gradd")

    def flush(self) -> None:
        """Write what is pending to its files."""
        for writer in self._writers.values():
            writer.flush()

    def close(self) -> None:
        """Write what is pending and close the files."""
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
