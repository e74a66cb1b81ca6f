"""One sample of every message, with the buffers it speaks of."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
from gradd_protocol import messages as m
from gradd_protocol.fields import Logged
from gradd_protocol.problems import problem
from gradd_protocol.program import GradOf, Program, Special, Step, Value

Arrays = list[npt.NDArray[Any]]

PROGRAM = Program(
    2,
    [
        Step("upload", [], {"dtype": "float32", "shape": [2]}),
        Step("add", [0, 2, Value("float")], {"alpha": Value("int")}),
        Step("cat", [[0, 1, None, GradOf(1)], None], {"dim": -1, "fill": Special("-inf")}, outputs=1),
        Step(
            "split",
            [3],
            {"sizes": [1, [2, [3]]], "flag": True, "p": 0.5, "none": None},
            outputs=2,
            grad=False,
        ),
        Step("backward", [4], {}, outputs=0, raises=True),
    ],
)
INFO = m.TensorInfo("@1.7", "w", [2, 3], [3, 1], "float32", True, True, 4, False)
SESSION = m.SessionInfo("demo", 1, 9, 2, 48, 12, 9, 3, 27, 1)
PROBLEM = problem("op-failed", "boom", exception="RuntimeError", step=2, applied=2)
TEXT = np.frombuffer(b'{"steps": []}', np.uint8)
F32 = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)

BATCH = m.Batch(
    writer=1,
    epoch=2,
    seq=3,
    ack=2,
    program=PROGRAM.id(),
    definition=PROGRAM,
    inputs=["@1.5", "w"],
    values=[0.1, 2, "NaN", True, [1.0, "-Infinity"]],
    uploads=[0, "1.9", 1],
    keep=[2, 4],
    first=6,
    fetch=[3, "w.grad"],
    free=["@1.5"],
    bind={"y": 3, "z": "@1.6"},
    unbind=["old"],
    state=["w"],
    log=[Logged("loss", "@1.2", 3), Logged("lr", 0.5)],
)
HOT = m.Batch(writer=1, epoch=1, seq=8, ack=7, program=PROGRAM.id(), inputs=["@1.5"], values=[0.1], fetch=[3])

SAMPLES: list[tuple[m.Message, Arrays]] = [
    (m.Attach("a test"), []),
    (m.Acquire(), []),
    (BATCH, [F32, np.array([1.5, -2.0], ml_dtypes.bfloat16)]),
    (HOT, []),
    (m.JsonBatch("key"), [TEXT]),
    (m.PutTensor("w", requires_grad=True), [F32]),
    (m.PutJson("w"), [TEXT]),
    (m.GetTensor("w.grad"), []),
    (m.GetTensors(["w", "w.grad"]), []),
    (m.DeleteTensor("w"), []),
    (m.ListTensors(), []),
    (m.BackwardJson("y"), [TEXT]),
    (m.GetGraph("y", "dot", 50), []),
    (m.GetSeries(), []),
    (m.GetMemory(), []),
    (m.GetActivity(), []),
    (m.Measure(20), []),
    (m.PutHook("clip"), [TEXT]),
    (m.GetHook("clip"), []),
    (m.DeleteHook("clip"), []),
    (m.ListHooks(), []),
    (m.Stage("1.9"), [np.zeros((2, 0, 3), np.complex128)]),
    (m.GetResult("1.4"), []),
    (m.GetReply(1, 3), []),
    (m.Info(), []),
    (m.ProfileSwitch(on=True), []),
    (m.Attached(1, 2, 64, SESSION), []),
    (
        m.BatchReply(
            seq=3,
            position=9,
            applied=5,
            results=[
                m.Result("bool", [], 0),
                m.Result("int64", [3], 1),
                m.Result("float64", [1 << 20], pinned="1.3"),
                m.Result(absent=True),
            ],
            others=True,
            changed=[INFO],
            state=[INFO, None],
            problem=PROBLEM,
        ),
        [np.array(True), np.array([1, -2, 3])],
    ),
    (m.TensorReply(INFO), [np.ones((2, 3), np.float32)]),
    (m.TensorsReply([INFO, None]), [np.ones((2, 3), np.float32)]),
    (m.Tensors([INFO, INFO]), []),
    (m.JsonReply(422), [TEXT]),
    (m.Done(created=True), []),
    (m.SessionReply(SESSION), []),
    (
        m.Profiled(
            planned=2,
            eager=1,
            hits=2,
            new_programs=1,
            misses=[m.Miss("b", "a", 3, "add(0, 1)", "(end)")],
            bytes_in=900,
            bytes_out=80,
            seconds=0.25,
            waited=0.01,
            kernels=[m.KernelTime("mm", "planned", 4, 0.2)],
            batches=[m.BatchTime(7, "b", 5, "eager", "first sighting", 0.1, 0.0, 3.5, 3.5)],
            calls=[m.KernelRun("mm", 3.51, 0.05)],
            front=[m.FrontTime(1, 4, 3.4, 3.45, 3.7)],
        ),
        [],
    ),
    (
        m.Activity(
            planned=2,
            eager=1,
            traced=1,
            reasons={"first sighting": 1},
            measuring=True,
            profile=m.Profiled(batches=[m.BatchTime(7, "b", 5, "planned", "", 0.1, 0.0, 3.5, 3.5, 1, 4)]),
        ),
        [],
    ),
    (m.ProblemReply(PROBLEM), []),
]
