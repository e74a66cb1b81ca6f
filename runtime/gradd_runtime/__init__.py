"""One session, executed: frames in, frames out. No asyncio, no clock; a socket only between processes.

From the top: `process`, where sessions run; `session`; `plan`; `batch`, what is asked for; `program`, what
runs; `tensors` and `store`, what is kept. `catalog` describes the ops that a step may call.
"""
