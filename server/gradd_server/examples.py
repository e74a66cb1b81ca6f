"""The examples of openapi.yaml: of operations, which work with a new daemon, and of schemas."""

from __future__ import annotations

import json
from typing import Any

from gradd_protocol import dtypes
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.version import EXTENSIONS, VERSION, WIRE

SESSION = {
    "name": "demo",
    "epoch": 1,
    "last_position": 0,
    "tensors": 0,
    "bytes": 0,
    "messages": 0,
    "batches": 0,
    "round_trips": 0,
    "steps": 0,
    "writers": 0,
    "asleep": False,
}
SNAPSHOT_ID = "3-9f86d081"
SNAPSHOT = {"id": SNAPSHOT_ID, "session": "demo", "position": 3, "bytes": 2048, "created": 1790000000}
NODE_ID = "5c17cc7df8914b84d548780424b66ace60db55e6b614d85c68593946"
NODE = {
    "node": NODE_ID, "machine": "10.0.0.7", "device": "cuda:0", "pid": 4711, "up": True, "drained": False,
    "sessions": 12,
}  # fmt: skip
SHARE_ID = "s0123456789"
SHARE = {"id": SHARE_ID, "created": 1790000000, "expires": 1790604800}
NEW_SHARE = {**SHARE, "token": f"gradd_{'0' * 72}"}
MATMUL = {
    "name": "matmul",
    "signature": "matmul(Tensor input, Tensor other) -> Tensor",
    "doc": "Matrix product (torch.matmul).",
    "inputs": [
        {"name": "input", "kind": "Tensor", "optional": False},
        {"name": "other", "kind": "Tensor", "optional": False},
    ],
    "attrs": [],
    "differentiable": True,
    "in_place": False,
    "view": False,
    "random": False,
}
W = {"data": [[1.0], [2.0]], "dtype": "float32", "requires_grad": True}
W_INFO = {
    "id": "@0.1",
    "name": "w",
    "shape": [2, 1],
    "strides": [1, 1],
    "dtype": "float32",
    "requires_grad": True,
    "is_leaf": True,
    "version": 0,
    "has_grad": False,
}
W_VALUE = {"dtype": "float32", "shape": [2, 1], "data": [[1.0], [2.0]]}
SQUARES = {
    "steps": [
        {"op": "mul", "inputs": ["w", "w"], "outputs": ["%q"]},
        {"op": "sum", "inputs": ["%q"], "outputs": ["y"]},
    ],
    "fetch": ["y"],
    "log": [{"name": "loss", "value": "y", "step": 1}],
}
SQUARED = {"seq": 1, "position": 2, "results": {"y": {"dtype": "float32", "shape": [], "data": 5.0}}}
REDUCE = {
    "members": [{"session": "demo", "tensors": ["w"], "uploads": ["1.1"]}],
    "op": "mean",
}
REDUCED = {"results": [{"dtype": "float32", "shape": [2, 1]}]}
ATTACHED = {"writer": 1, "epoch": 1, "window": 256, "session": {**SESSION, "writers": 1}}
PROFILE = {
    "planned": 0,
    "eager": 0,
    "hits": 0,
    "new_programs": 0,
    "misses": [],
    "bytes_in": 0,
    "bytes_out": 0,
    "seconds": 0.0,
    "waited": 0.0,
    "kernels": [],
    "batches": [],
    "calls": [],
    "front": [],
}
ACTIVITY = {
    "planned": 0,
    "eager": 0,
    "traced": 0,
    "reasons": {},
    "measuring": False,
    "profile": PROFILE,
}
COURSE = {
    "every": 1,
    "batches": [3, 4],
    "seconds_ago": [0.5, 0.0],
    "bytes": [8, 16],
    "layers": [{"kind": "leaf", "label": "w", "bytes": [8, 8]}],
}
BLOCK = {
    "label": "w",
    "kind": "leaf",
    "bytes": 8,
    "shape": [2, 1],
    "dtype": "float32",
    "holders": ["w", "saved by MulBackward0"],
    "more": 0,
}
MEMORY = {
    "bytes": 16,
    "limit": 8 << 30,
    "beside": {"objects": 1850, "plans": 0, "results": 0, "uploads": 0, "rest": 640},
    "blocks": [BLOCK],
    "more_blocks": 0,
    "untold": 8,
    "truncated": False,
    "whole": {**COURSE, "every": 16, "layers": []},
    "watched": COURSE,
}
GRAPH = {
    "root": 0,
    "nodes": [
        {
            "id": 0,
            "name": "torch::autograd::AccumulateGrad",
            "outputs": [{"nr": 0, "shape": [2, 1], "dtype": "float32"}],
            "saved": [],
            "freed": False,
            "leaf": {"tensor": "w", "shape": [2, 1], "dtype": "float32"},
        }
    ],
    "edges": [],
    "truncated": False,
    "max_nodes": 1000,
}
HALVE = {
    "tensor": "w",
    "steps": [{"op": "mul", "inputs": ["%g", 0.5], "outputs": ["%half"]}],
    "outputs": ["%half"],
}
HALVED = {"name": "halve", "kind": "tensor", "inputs": ["%g"], **HALVE, "runs": 0}
DAEMON = {
    "name": "gradd",
    "version": VERSION,
    "wire": WIRE,
    "extensions": list(EXTENSIONS),
    "limits": LIMITS.as_dict(),
    "dtypes": list(dtypes.BY_NAME),
}
_COUNTS = {"batches": 2, "steps": 3, "planned": 1, "eager": 1}
ENGINE = {
    "pid": 4242,
    "up": True,
    "answers": True,
    "waiting": 0,
    "resident_bytes": 80_000_000,
    "sessions": {"awake": 1, "asleep": 0, "recovering": 0, "refused": 0},
    "tensors": 1,
    "bytes": 8,
    "quota_bytes": 8 << 30,
    "counts": _COUNTS,
    "seconds": 0.25,
    "node": "",
}
TENANT = {"tenant": "default", "sessions": 1, "bytes": 8, "batches": 2, "seconds": 0.25}
ACTIVE = {
    "tenant": "default",
    "name": "demo",
    "tensors": 1,
    "bytes": 8,
    "idle_seconds": 1.5,
    "counts": _COUNTS,
}
STATUS = {
    "version": VERSION,
    "ready": True,
    "uptime_seconds": 60.0,
    "connections": 2,
    "streams": 1,
    "unanswered": 0,
    "traffic_bytes": 0,
    "restarts": 0,
    "lost": 0,
    "engines": [ENGINE],
    "tenants": [TENANT],
    "sessions": [ACTIVE],
}
LIVE_SESSION = {"tenant": "default", "name": "demo", "streams": 1}
LIVE = {
    "version": VERSION,
    "tenant": "default",
    "role": "operator",
    "ready": True,
    "uptime_seconds": 60.0,
    "engines": [ENGINE],
    "tenants": [TENANT],
    "sessions": [LIVE_SESSION],
    "more": 0,
}
LIVE_EVENT = f"event: live\ndata: {json.dumps(LIVE)}\n\n"
PROBLEM_PAGE = {
    "type": "/problems/op-failed",
    "title": "Step failed",
    "status": 422,
    "description": "A step failed while running.",
}
FAILED = {
    "type": "/problems/op-failed",
    "title": "Step failed",
    "status": 422,
    "detail": "Trying to backward through the graph a second time ...",
    "exception": "RuntimeError",
    "step": 2,
    "applied": 2,
}
ALPHA = {"name": "alpha", "schema": {"type": "number"}, "run_time": True, "nullable": False, "default": 1}

SCHEMAS: dict[str, Any] = {
    "Activity": ACTIVITY,
    "BlockInfo": BLOCK,
    "CourseInfo": COURSE,
    "MemoryInfo": MEMORY,
    "MemoryKind": "saved",
    "MemoryLayer": {"kind": "leaf", "label": "w", "bytes": [8, 8]},
    "MeasureOptions": {"batches": 20},
    "MoveOptions": {"node": NODE_ID},
    "Moved": {"node": NODE_ID},
    "NodeList": {"nodes": [NODE]},
    "NodeLoad": NODE,
    "Drained": {"moved": 3, "left": 0},
    "Attach": {"client": "curl"},
    "ReduceMember": REDUCE["members"][0],
    "ReduceOptions": REDUCE,
    "Reduced": REDUCED,
    "ReducedTensor": REDUCED["results"][0],
    "UploadKey": "1.1",
    "Attached": ATTACHED,
    "Attr": [2, {"slice": [None, None, 2]}, "..."],
    "Backward": {"gradient": "w", "retain_graph": True, "inputs": ["w"]},
    "Batch": SQUARES,
    "BatchTime": {
        "position": 2,
        "program": "4f1c",
        "steps": 2,
        "how": "eager",
        "why": "first time",
        "seconds": 0.001,
        "waited": 0.0,
        "came": 310.0,
        "began": 310.0,
        "recording": 0.002,
    },
    "ActiveSession": ACTIVE,
    "DaemonStatus": STATUS,
    "EngineLoad": ENGINE,
    "TenantLoad": TENANT,
    "Curve": {"count": 2, "every": 1, "steps": [0, 1], "values": [0.7, "NaN"]},
    "CurveList": {
        "series": {"loss": {"count": 2, "every": 1, "steps": [0, 1], "values": [0.7, 0.5]}},
        "dropped": 0,
    },
    "ComplexPair": [1.0, -2.0],
    "Dtype": "float32",
    "Data": [[1.0], ["NaN"]],
    "DataList": [[1.0], ["NaN"]],
    "Description": DAEMON,
    "FetchOptions": {"names": ["w", "w.grad"]},
    "FetchedValues": {"results": {"w": W_VALUE, "w.grad": None}},
    "GraphEdge": {"from": 0, "slot": 0, "to": 1, "nr": 0},
    "GraphInfo": GRAPH,
    "GraphLeaf": {"tensor": "w", "shape": [2, 1], "dtype": "float32"},
    "GraphNode": {
        "id": 0,
        "name": "MulBackward0",
        "outputs": [{"nr": 0, "shape": [2, 1], "dtype": "float32"}],
        "saved": [{"name": "self", "shape": [2, 1], "dtype": "float32", "bytes": 8}],
        "freed": False,
        "source": {"file": "train.py", "line": 12},
    },
    "HeldName": "w",
    "Hook": HALVE,
    "HookInfo": HALVED,
    "HookKind": "post_accumulate",
    "HookList": {"hooks": [HALVED]},
    "IndexInput": {"input": 1},
    "IndexSlice": {"slice": [0, None, 2]},
    "Input": ["a", "b"],
    "Inputs": ["x", 2],
    "InputList": ["x", ["a", "b"], 2],
    "InputMap": {"input": "x", "other": 2},
    "InputItem": {"scalar": 2, "dtype": "float64"},
    "FrontTime": {"writer": 1, "seq": 2, "came": 309.9, "submitted": 309.95, "answered": 310.1},
    "KernelRun": ["mul", 310.0, 0.0001],
    "KernelTime": {"name": "mul", "how": "eager", "calls": 1, "seconds": 0.0001},
    "LiveSession": LIVE_SESSION,
    "LiveState": LIVE,
    "Limits": LIMITS.as_dict(),
    "ListedSession": SESSION,
    "Liveness": {"status": "live"},
    "Miss": {"program": "4f1c", "like": "77aa", "step": 1, "was": "mul(0, 0)", "found": "add(0, 0)"},
    "NodeOutput": {"nr": 0, "shape": [2, 1], "dtype": "float32"},
    "NumberText": "-Infinity",
    "OpAttr": ALPHA,
    "OpCatalogue": {"ops": {"matmul": MATMUL}},
    "OpInfo": MATMUL,
    "OpInput": {"name": "input", "kind": "Tensor", "optional": False},
    "OutputName": "%q",
    "Point": {"name": "loss", "value": "y", "step": 1},
    "Problem": FAILED,
    "ProblemPage": PROBLEM_PAGE,
    "ProblemType": "/problems/op-failed",
    "CancelOptions": {"writer": 1, "seq": 8},
    "ProfileOptions": {"on": True},
    "Profiled": PROFILE,
    "Readiness": {"status": "ready"},
    "Reference": "w.grad",
    "Restored": {
        "snapshot": 120,
        "entries": 7,
        "differing": 2,
        "lost": 0,
        "made_by": "numpy-2.4.5 x86_64-glibc-2.36 cpu-X86_V3 blas-OpenBLAS-0.3.31-Haswell threads-4",
        "by": "numpy-2.4.6 x86_64-glibc-2.36 cpu-X86_V3+X86_V4 blas-OpenBLAS-0.3.31-SkylakeX threads-8",
    },
    "Results": SQUARED,
    "SavedInfo": {"name": "self", "shape": [2, 1], "dtype": "float32", "bytes": 8},
    "Scalar": {"scalar": [1.0, -2.0]},
    "ScalarValue": [1.0, -2.0],
    "SessionInfo": SESSION,
    "SessionName": "demo",
    "SessionOptions": {"device": "cpu"},
    "SessionPage": {"sessions": [SESSION], "next_page_token": "demo"},
    "SnapshotId": SNAPSHOT_ID,
    "SnapshotInfo": SNAPSHOT,
    "SnapshotList": {"snapshots": [SNAPSHOT]},
    "SnapshotRef": {"session": "demo", "id": SNAPSHOT_ID},
    "SourceLine": {"file": "train.py", "line": 12},
    "NewShare": NEW_SHARE,
    "ShareInfo": SHARE,
    "ShareList": {"shares": [SHARE]},
    "ShareOptions": {"hours": 24},
    "Step": {"op": "sum", "inputs": ["h"], "attrs": {"dim": [0], "keepdim": True}, "outputs": ["y"]},
    "TemporaryName": "%g",
    "TensorInfo": W_INFO,
    "TensorJson": W,
    "TensorName": "w",
    "TensorValue": W_VALUE,
    "Tensors": {"tensors": [W_INFO]},
}
"""For every schema except those of problems by status."""
