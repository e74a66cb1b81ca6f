"""One session, executed: frames in, frames out. No asyncio, no sockets, no clock."""
