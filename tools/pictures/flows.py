"""The two ways that the pictures show, step by step. A definition that is renamed has to be renamed here."""

from __future__ import annotations

from .lanes import Arrow, Lane, Step, Way

BATCH = Way(
    "The way of a batch",
    (
        Lane("The script's process", "the SDK: shapes, no numbers", "gradd"),
        Lane("The front", "the daemon's event loop", "gradd_server"),
        Lane("An engine process", "sessions: numbers", "gradd_runtime"),
    ),
    (
        (
            Step(
                "call", 0, "gradd_engine.declare.dispatch:dispatch",
                "An op is called. The mirror runs it on shapes and raises what PyTorch would.",
            ),
        ),
        (
            Step(
                "hear", 0, "gradd._session.listening:Listening.record",
                "The session hears of each outermost op.",
            ),
        ),
        (
            Step(
                "record", 0, "gradd._recording.recorder:Recorder.record",
                "A step of the program; rule (c) and rule (e) may end the batch.",
            ),
        ),
        (
            Step(
                "flush", 0, "gradd._recording.recorder:Recorder.flush",
                "The batch ends: a value is read (a), an optimizer stepped (b), flush, naming, close (d).",
            ),
        ),
        (
            Step(
                "send", 0, "gradd._wire.outbox:Outbox.send",
                "Program id, inputs, values, uploads, keep, fetches, frees; once also the program.",
            ),
            Step(
                "receive", 1, "gradd_server.stream:_Stream._receive",
                "Always receives, into a bounded inbox; closes a stream that is beyond its window.",
            ),
        ),
        (
            Step(
                "post", 0, "gradd._wire.wire:Wire.post",
                "The next number of this writer; kept until it is answered, so that it can be sent again.",
            ),
            Step(
                "begin", 1, "gradd_server.placement.process:EngineProcess.ask",
                "An envelope around the frame; the front never decodes a program.",
            ),
            Step(
                "turn", 2, "gradd_runtime.process.worker:Worker._run_one",
                "Sessions with frames waiting take turns.",
            ),
        ),
        (
            Step(
                "answer", 2, "gradd_runtime.session.session:Session.answer",
                "The frame is parsed (gradd_protocol/frames.py); no request makes this raise.",
            ),
        ),
        (
            Step(
                "take", 2, "gradd_runtime.session.frame_batches:take_batch",
                "Consumed once: a number seen before gets its stored reply.",
            ),
        ),
        (
            Step(
                "find", 2, "gradd_runtime.plan.cache:Plans.run",
                "Is there a plan for this program and these inputs?",
            ),
        ),
        (
            Step(
                "replay", 2, "gradd_runtime.plan.replay:Plan.replay",
                "Yes: kernel calls, all or nothing.", "left",
            ),
            Step(
                "admit", 2, "gradd_runtime.program.admission:admit",
                "No: a dry run on shapes.", "right",
            ),
        ),
        (
            Step(
                "commit", 2, "gradd_engine.tracing.commit:Commit.make",
                "Its effect on tensors and graphs.", "left",
            ),
            Step(
                "run", 2, "gradd_runtime.program.executor:run",
                "Step by step; what fails stops it.", "right",
            ),
        ),
        (
            Step(
                "work", 1, "gradd_server.stream:_Stream._work",
                "Replies go out in the order in which the batches came.",
            ),
            Step(
                "reply", 2, "gradd_runtime.session.perform:perform",
                "Outputs kept, results fetched, ids freed. The batch is recorded, then the reply is stored.",
            ),
        ),
        (
            Step(
                "taken", 0, "gradd._wire.wire:Wire._take",
                "Results for those who wait, or the error that the next sync raises.",
            ),
        ),
        (
            Step(
                "read", 0, "gradd._session.values:Fetching.read",
                "loss.item(): the value, which mostly came along.",
            ),
        ),
    ),
    (
        Arrow("call", "hear"),
        Arrow("hear", "record"),
        Arrow("record", "flush"),
        Arrow("flush", "send"),
        Arrow("send", "post"),
        Arrow("post", "receive", "a frame"),
        Arrow("receive", "begin"),
        Arrow("begin", "turn", "socket pair"),
        Arrow("turn", "answer"),
        Arrow("answer", "take"),
        Arrow("take", "find"),
        Arrow("find", "replay"),
        Arrow("find", "admit"),
        Arrow("replay", "commit"),
        Arrow("admit", "run"),
        Arrow("commit", "reply"),
        Arrow("run", "reply"),
        Arrow("reply", "work", "a reply"),
        Arrow("work", "taken", "a reply"),
        Arrow("taken", "read"),
    ),
)  # fmt: skip

CALLBACKS = Way(
    "A backward pass with callbacks",
    (
        Lane("The script's process", "the mirror: shapes, and the user's code", "gradd"),
        Lane("The session", "the server: numbers, no user code", "gradd_runtime"),
    ),
    (
        (
            Step(
                "backward", 0, "gradd_engine.backward.backward_op:run_pass",
                "loss.backward(). One step, unless callbacks of the user stand in the graph.",
            ),
        ),
        (
            Step(
                "drive", 0, "gradd_engine.backward.passes:drive",
                "They do: records begin_backward. A token tensor holds the pass.",
            ),
            Step(
                "begin", 1, "gradd_engine.backward.backward_op:_begin_backward",
                "Makes the same pass over its own graph, held by its own token.",
            ),
        ),
        (
            Step(
                "advance", 0, "gradd_engine.backward.executor:GraphTask.advance",
                "Runs nodes on shapes up to the next callback. Records resume_pass: the answer, how many "
                "nodes further, the kind of callback.",
            ),
            Step(
                "resume", 1, "gradd_engine.backward.passes:_resume",
                "Hands in the answer and runs just as many nodes, on numbers. The step's outputs are the "
                "gradients there.",
            ),
        ),
        (
            Step(
                "respond", 0, "gradd_engine.backward.hooks:answer",
                "Calls what stands at the node: hooks, Function.backward, unpack hooks, in PyTorch's order.",
            ),
            Step(
                "rest", 1, "gradd_engine.backward.executor:GraphTask._body",
                "Bodies of nodes between callbacks: their rules, op by op.",
            ),
        ),
        (
            Step("user", 0, "", "def hook(g): return g * s[0]    # the user's code, on mirror tensors"),
        ),
        (
            Step(
                "recorded", 0, "gradd._recording.recorder:Recorder.record",
                "Its ops become steps behind that resume_pass; reading a value inside sends the batch here.",
            ),
            Step(
                "ops", 1, "gradd_engine.declare.dispatch:dispatch",
                "Runs them as it runs any step.",
            ),
        ),
        (
            Step(
                "accumulate", 0, "gradd_engine.backward.accumulate:accumulate",
                "At leaves: whether there is a .grad, and its shape.",
            ),
            Step(
                "sum", 1, "gradd_engine.backward.accumulate:accumulate",
                "At leaves: the values of .grad.",
            ),
        ),
        (
            Step(
                "finish", 0, "gradd_engine.backward.executor:GraphTask.finish",
                "The last resume_pass runs to the end and gives what grad() returns.",
            ),
        ),
    ),
    (
        Arrow("backward", "drive"),
        Arrow("drive", "advance"),
        Arrow("drive", "begin", "a step"),
        Arrow("begin", "resume"),
        Arrow("advance", "resume", "a step"),
        Arrow("advance", "respond", "a callback"),
        Arrow("respond", "user"),
        Arrow("user", "recorded"),
        Arrow("recorded", "ops", "steps"),
        Arrow("resume", "rest"),
        Arrow("recorded", "advance", back=True),
        Arrow("recorded", "accumulate", "no callback is left"),
        Arrow("rest", "ops"),
        Arrow("ops", "sum"),
        Arrow("accumulate", "finish"),
    ),
)  # fmt: skip
