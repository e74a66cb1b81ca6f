"""Executes a session: frames in, frames out. No asyncio; sockets only between processes.

From the top down: `process` (where sessions run), `session`, `plan`, `batch`, `program`, `tensors` and
`store`. `catalog` describes the ops that a step may call.
"""
