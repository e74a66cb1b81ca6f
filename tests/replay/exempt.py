"""Tests that are made for one run and what the replaying mode does with them, each with its reason.
`test_few_tests_are_excused` bounds how many there are.
"""

from __future__ import annotations

MESSAGES = "asserts how many messages are sent, or how long they are"
PLANNED = "asserts which of its batches were planned"
WARNED = "asserts of which writes it is warned, which depends on when a batch is sent"

#: not replayed at all: files, or tests
LEFT_OUT = {
    "tests/benchmarks/": "measures, in processes of its own",
    "tests/client/test_asyncio_called_off.py": "is called off by a clock, and its twin is not",
    "tests/client/test_fork.py": "forks, and what is cut in a child is nobody's",
    "tests/client/test_gradcheck.py": "perturbs every element of every op; op samples have bodies",
    "tests/client/test_hangs.py": "stops and kills daemons of its own",
    "tests/client/test_interrupts.py": "interrupts itself by a clock",
    "tests/client/test_reconnect.py::test_ctrl_c_ends_the_wait": "interrupts itself at its third try",
    "tests/client/test_sharing.py": "is warned at lines that send a batch: those of the cuts, too",
    "tests/client/test_threads.py": "threads record in an order of their own",
    "tests/client/test_timeout.py": "is called off by a clock, and its twin is not",
    "tests/client/test_transports.py": "breaks its connection, or its session's memory of it",
    "tests/congruence/": "random programs, which are bodies of their own here",
    "tests/examples/test_digits.py::test_demo_starts_a_daemon_of_its_own": "a process of its own",
    "tests/replay/": "is this mode",
    "tests/runtime/": "sends frames by hand, and repeats them itself where that matters",
}

#: replayed, and what their sessions answer is compared; their own assertions need not hold when they are cut
#: or repeated
EXEMPT = {
    "tests/client/distributions/test_checks.py": PLANNED,
    "tests/client/test_collected.py": "counts what this process holds, the twin session's nodes too",
    "tests/client/test_cuda.py::test_with_a_gpu": MESSAGES,
    "tests/client/test_curves.py": "asserts all that its session was told to log, by each repetition",
    "tests/client/test_cycles.py": "counts what this process holds, the twin session's nodes too",
    "tests/client/test_data_ahead.py": MESSAGES,
    "tests/client/test_data_workers.py::test_samples_of_arrays_and_of_the_parents_tensors": MESSAGES,
    "tests/client/test_distance.py": MESSAGES,
    "tests/client/test_elements.py::test_what_is_written_at_an_unknown_place_waits_for_nothing": MESSAGES,
    "tests/client/test_errors.py::test_the_mirror_raises_at_the_line_without_a_round_trip": MESSAGES,
    "tests/client/test_errors.py::test_a_value_that_came_before_the_failure_can_still_be_read": MESSAGES,
    "tests/client/test_graph.py::test_text": "shows the ids of tensors",
    "tests/client/test_known.py": MESSAGES,
    "tests/client/test_layers.py::test_initial_values_need_no_round_trip": MESSAGES,
    "tests/client/test_lines.py::test_lines_are_told_with_a_definition_alone_and_to_who_takes_them": MESSAGES,
    "tests/client/test_lines.py::test_of_one_program_on_several_lines_the_session_tells_the_first": PLANNED,
    "tests/client/test_mirror.py::test_it_knows_everything_but_numbers": MESSAGES,
    "tests/client/test_neighbours.py": MESSAGES,
    "tests/client/test_notebook.py::test_showing_a_tensor_waits_as_often_as_printing_it": MESSAGES,
    "tests/client/test_numpy_protocols.py::test_a_tensor_of_gradds_stays_where_it_is": MESSAGES,
    "tests/client/test_optim.py::test_a_step_is_one_batch_and_few_steps": MESSAGES,
    "tests/client/test_optim.py::test_a_schedule_does_not_change_the_program": MESSAGES,
    "tests/client/test_own_optimizers.py::test_their_steps_wait_for_nothing_and_are_planned": PLANNED,
    "tests/client/test_parametrize.py::test_training_with_norms_of_weights_waits_for_nothing": MESSAGES,
    "tests/client/test_profile.py": PLANNED,
    "tests/client/test_profiler.py": "counts what was profiled",
    "tests/client/test_recorder.py": MESSAGES,
    "tests/client/test_recording_time.py": MESSAGES,
    "tests/client/test_recurrent.py::test_training_is_planned_from_its_third_step_on": PLANNED,
    "tests/client/test_schedules.py::test_a_schedule_that_comes_across_a_default_keeps_its_program": PLANNED,
    "tests/client/test_session.py::test_anonymous_sessions_end_with_close": "its session goes on here",
    "tests/client/test_session.py::test_bytes_are_taken_before_tensor_returns": WARNED,
    "tests/client/test_skipped_steps.py::test_a_loop_waits_for_nothing": MESSAGES,
    "tests/client/test_sparse_gradients.py::test_training_reads_nothing": MESSAGES,
    "tests/client/test_states.py::test_a_batch_ends_after_a_pass_that_freed_its_graph": MESSAGES,
    "tests/client/test_states.py::test_an_interrupted_step_and_an_interrupted_batch_lose_graphs": (
        "interrupts what an op that is answered does not call"
    ),
    "tests/client/test_stream.py": MESSAGES,
    "tests/client/test_swa.py::test_a_loop_that_averages_is_planned": PLANNED,
    "tests/client/test_trail.py": "compares what two of its sessions sent, and counts what was answered",
    "tests/examples/test_digits.py::test_an_accuracy_below_what_is_wanted_exits_1": MESSAGES,
}


def _reason(table: dict[str, str], nodeid: str) -> str | None:
    name = nodeid.partition("[")[0]
    places = (name, name.partition("::")[0], "/".join(name.split("/")[:2]) + "/")
    return next((table[p] for p in places if p in table), None)


def left_out(nodeid: str) -> str | None:
    """Why a test is not replayed; None where it is."""
    return _reason(LEFT_OUT, nodeid)


def exempt(nodeid: str) -> str | None:
    """Why a replayed test may fail by its own measure; None where it may not."""
    return _reason(EXEMPT, nodeid)
