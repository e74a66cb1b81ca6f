"""uvicorn's WebSocket, which reads ahead."""

from __future__ import annotations

from gradd_protocol.limits import DEFAULT as LIMITS
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """One connection. uvicorn's stops reading after each message until the app has taken it, which costs two
    system calls; this one stops after a whole window of messages.
    """

    def send_receive_event_to_app(self) -> None:
        """Pass a message to the app."""
        paused, self.read_paused = self.read_paused, True
        super().send_receive_event_to_app()
        self.read_paused = paused
        if not paused and self.queue.qsize() > LIMITS.window_batches:
            self.read_paused = True
            self.transport.pause_reading()
