"""A writer's connection to a session: numbers, replies, failures, recovery (docs/design.md, section 6).

Every batch in flight gets exactly one reply on the current connection. If that fails (a lost connection, an
interrupted wait, a refusal that consumed nothing), there is one remedy: connect again as the same writer and
resend everything unanswered. The server replays the replies to what it had applied.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Any

from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.limits import DEFAULT

from .. import _transports
from .._exceptions import (
    ConnectionFailed,
    GraddError,
    NotAllowed,
    ServerError,
    SessionLost,
    answered,
    copy_of,
    error_of,
)  # fmt: skip
from .._mirror import Event
from .._transports import Dropped, left
from .absence import Presence, passing, retry_after
from .calling_off import call_off
from .lost import Lost
from .patience import FOREVER, patience
from .reading import read_reply

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from gradd_protocol.problems import Problem

    from .._mirror import Machine, MirrorState
    from .._transports import Transport
    from .patience import Watch
    from .pending import Sent

#: seconds between attempts after a refusal for want of room, which batches in flight may free
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
#: poll for replies only beyond this many in flight
_FEW = 4
#: refusals that consume nothing and can be recovered from
_MENDED = frozenset({"program-unknown", "sequence-gap", "quota-exceeded"})


class Wire:
    """Batches out, replies in. Callers hold the session's lock. `reconnect` (s): for how long a daemon that
    went away is tried again. `timeout` (s): how long a reply is waited for, None: for ever.
    """

    def __init__(
        self, url: str, session: str, transport: str, token: str | None, knowledge: Machine[MirrorState],
        reconnect: float | None = None, timeout: float | None = None,
    ) -> None:  # fmt: skip
        self.url = url
        self._knowledge = knowledge
        self._how = (url, session, transport, token)
        self.transport = _transports.make(*self._how)
        self.counts = {"batches": 0, "round_trips": 0, "steps": 0, "bytes_sent": 0, "bytes_received": 0}
        #: ids of tensors to free with the next batch
        self.dead: deque[str] = deque()
        #: the first unseen error of the server, and the batch that it stopped
        self.unseen: Exception | None = None
        self.unseen_seq = 0
        #: whether the user stopped it with Ctrl-C, and so has seen it
        self.called_off = False
        #: whether it is from a pass stopped by anomaly mode, in the last step of its batch
        self.stopped = False
        #: why the session can no longer be used
        self.ended: Exception | None = None
        self.timeout = timeout
        #: wraps each wait while a profile is measured
        self.watch: Watch | None = None
        self.flying: OrderedDict[int, Sent] = OrderedDict()
        #: what did not run, since the mirror last agreed
        self.lost = Lost()
        self.presence = Presence(url, _transports.reconnect() if reconnect is None else reconnect)
        #: of the ids that this client gave
        self.prefixes: tuple[str, ...] = ()
        try:
            self._attach()
        except BaseException:
            self.transport.close()
            raise

    def _attach(self) -> None:
        """Become a writer of the session, which is made where it is new."""
        with self.patience():
            while True:
                try:
                    attached = self.transport.attach()
                    break
                except ConnectionFailed as e:
                    if not self.presence.missed:
                        left(0)  # nobody is there, or not in time
                        raise
                    self.presence.rest(e)
                except GraddError as e:
                    self.presence.rest(e, passing(e))
        self.presence.answered()
        self._begin(attached)

    def _begin(self, attached: m.Attached) -> None:
        """Go on as another writer."""
        self.writer, self.epoch, self.window = attached.writer, attached.epoch, attached.window
        self.prefix, self.info = f"@{self.writer}.", attached.session
        self.prefixes += (self.prefix,)
        self.seq = self.answered = self.ack = self._called_off = self.flying_bytes = 0
        #: the newest batch with steps
        self.worked = 0
        self.flying = OrderedDict()
        self.known: set[str] = set()
        #: the newest batch, of those that were not sent beside others
        self.last: Sent | None = None
        self._error: Exception | None = None
        self._next_upload, self._refusals, self._stale = 1, 0, False
        #: whether Ctrl-C ended a wait, and nothing was sent or awaited since
        self.interrupted = False

    def begin_anew(self) -> None:
        """In a forked child: open a new connection as a new writer; the parent's connection is left alone."""
        self._parent = self.transport
        self.transport = _transports.make(*self._how)
        self.dead.clear()
        self.prefixes = ()
        self.unseen, self.unseen_seq = None, 0
        self.lost.forget()
        try:
            # Attaching would make the session anew where it has ended meanwhile.
            self.request(m.Info())
            self._attach()
        except BaseException:
            self.transport.close()
            raise

    def acquire(self) -> None:
        """Become the session's only writer. Nothing may be in flight."""
        with self.patience():
            while True:
                try:
                    reply, _ = answered(self.transport.request(m.Acquire()))
                    break
                except Dropped as e:
                    self.presence.rest(e)  # what was acquired unheard is acquired again
                except ServerError as e:
                    self.presence.rest(e, passing(e))
        self.presence.answered()
        assert isinstance(reply, m.Attached)
        known = self.known
        self._begin(reply)
        self.known = known
        self._reconnect(Dropped("the session was acquired"))

    def disconnect(self, delete: bool, within: float | None = None) -> None:
        """Close the connection; with `delete` end the session, if the daemon answers within `within` s."""
        try:
            if delete and self.ended is None and not self.presence.away:
                self.transport.delete(within)
        except (Dropped, GraddError):
            # The daemon ends it later.
            return
        finally:
            self.transport.close()

    # -- send --------------------------------------------------------------------------------------

    def make_room(self) -> None:
        """Take the replies that arrived, if several are due, and wait until there is room for a batch."""
        if not self.flying:
            return
        if len(self.flying) >= min(_FEW, self.window) or self.flying_bytes > DEFAULT.window_bytes // 2:
            self.drain()
        while len(self.flying) >= self.window or self.flying_bytes > DEFAULT.window_bytes:
            with self.patience():
                self._receive(block=True)

    def post(self, sent: Sent) -> None:
        """Send one batch without waiting for its reply."""
        message = sent.message
        parts = frames.encode(message, sent.buffers)
        sent.size = size = frames.size(parts)
        if size > DEFAULT.server_message_bytes:
            raise GraddError(f"a batch of {size} bytes is over the limit of {DEFAULT.server_message_bytes}")
        if sent.built is not None and sent.built.steps and not sent.beside:
            self.worked = message.seq
        if self.ended is not None:
            sent.done()
            sent.lose(0, self.ended, self.lost)
            return
        if self.unseen is not None and self.idle:
            sent.done()
            sent.lose(0, self.unseen, self.lost)
            self.dead.extend(message.free)
            return
        self.known.add(message.program)
        self.flying[message.seq] = sent
        self.flying_bytes += size
        self.seq = message.seq
        if not sent.beside:
            self.last = sent
        self.counts["batches"] += 1
        self.counts["bytes_sent"] += size
        with self.patience():
            if self._stale:
                self._lost_sending(Dropped("a wait was interrupted"))
                return
            try:
                self.transport.send(parts, message.seq)
            except Dropped as e:
                self._lost_sending(e)
            except BaseException:
                self._stale = True
                raise

    @property
    def idle(self) -> bool:
        """Whether the session would skip a batch, and the window is full: while the error is unseen, nothing
        is acknowledged.
        """
        return self.unseen is not None and self.seq - self.ack >= self.window

    def upload_key(self) -> str:
        """The key of another staged upload."""
        self._next_upload += 1
        return f"{self.writer}.{self._next_upload - 1}"

    def request(self, message: m.Request, buffers: list[Any] | None = None) -> tuple[m.Reply, list[Any]]:
        """Send a request outside the order of batches and wait for the reply; a refusal is raised."""
        return self.ask(lambda t: answered(t.request(message, buffers or [])))  # type: ignore[no-any-return]

    def ask(self, how: Callable[[Transport], Any]) -> Any:
        """`how` over the transport, outside the order of batches; once more after the daemon was away."""
        self.counts["round_trips"] += 1
        with self.patience():
            while True:
                try:
                    found = how(self.transport)
                    self.presence.answered()
                    return found
                except Dropped as e:
                    # Whoever is there next may be another daemon: it has to know this writer.
                    self._reconnect(e)
                    if self.ended is not None:
                        raise (self.saw() if self.unseen is self.ended else copy_of(self.ended)) from e
                except ServerError as e:
                    self.presence.rest(e, passing(e))

    # -- receive -----------------------------------------------------------------------------------

    def drain(self) -> None:
        """Take the replies that have arrived."""
        while self.flying and self._receive(block=False):
            continue

    def wait(self, sent: Sent) -> None:
        """Wait for the reply to one batch; counts one round trip per batch."""
        if not sent.counted:
            sent.counted = True
            self.counts["round_trips"] += 1
        if not sent.answered:
            with self.patience():
                while not sent.answered:
                    self._receive(block=True)

    def wait_all(self) -> None:
        """Wait for the replies to all batches."""
        if self.last is not None:
            self.wait(self.last)
        with self.patience():
            while self.flying:  # what was sent beside it
                self._receive(block=True)

    @property
    def graphs_stand(self) -> bool:
        """Whether the unseen error left the graphs intact: it stopped a pass, and no step came after."""
        return self.stopped and self.unseen_seq == self.worked

    def saw(self) -> Exception:
        """Take the unseen error, so that later batches run again."""
        self.ack = self.answered
        error, self.unseen, self.unseen_seq, self.called_off = self.unseen, None, 0, False
        assert error is not None
        return copy_of(error)

    def _receive(self, block: bool) -> bool:
        """Take one reply; False if there is none."""
        try:
            if self._stale:
                self._reconnect(Dropped("a wait was interrupted"))
            data = self.transport.receive(block)
            if data is None:
                if block:
                    raise Dropped("no reply is under way")
                return False
            self.counts["bytes_received"] += len(data)
            reply, arrays = read_reply(data, self.url)
            if isinstance(reply, m.ProblemReply):
                self._refused(reply.problem)
            elif isinstance(reply, m.BatchReply):  # a network may repeat what attaching was answered
                self._take(reply, arrays)
        except Dropped as e:
            self._reconnect(e)
        except BaseException as e:
            # An interrupt may have lost a reply: ask again for everything unanswered.
            self._stale = True
            self.interrupted = isinstance(e, KeyboardInterrupt)
            if self.interrupted and block:
                self._give_up()
            raise
        return True

    def _take(self, reply: m.BatchReply, arrays: list[Any]) -> None:
        sent = self.flying.get(reply.seq)
        if sent is None:
            return
        if next(iter(self.flying)) != reply.seq:
            raise Dropped("a reply was lost")
        sent.state = reply.state
        if reply.problem is not None:
            self._error = error_of(reply.problem, *sent.where(reply.problem.step))
            if self.unseen is None:
                self.unseen, self.unseen_seq = self._error, reply.seq
                self.stopped = reply.problem.node is not None and sent.ends_at(reply.problem.step)
                self.called_off = reply.problem.slug == "cancelled" and reply.seq <= self._called_off
            sent.lose(reply.applied, self._error, self.lost)
        elif reply.skipped:
            sent.lose(0, self._error or GraddError("the batch was skipped"), self.lost)
        else:
            sent.deliver(reply.results, arrays)
        if sent.failed:
            self.dead.extend(sent.message.free)
        if reply.others:
            self._knowledge.on(Event.OTHERS_WROTE)
        self._refusals = 0
        self.presence.answered()
        self.answered = reply.seq
        if self.unseen is None:
            self.ack = reply.seq
        sent.answered = True
        del self.flying[reply.seq]  # until here an interrupt has it sent again, whole
        self.flying_bytes -= sent.size
        sent.done()
        if sent is not self.last:
            sent.forget()

    # -- recovery ----------------------------------------------------------------------------------

    def _refused(self, problem: Problem) -> None:
        """The first batch in flight was refused and not consumed, and so were all behind it."""
        error = error_of(problem, None, None)
        after = retry_after(error)
        if after is not None:
            self._reconnect(error, after)
            return
        self._refusals += 1
        slug, expected = problem.slug, problem.expected_seq
        if slug == "sequence-gap" and expected is not None and expected <= self.answered:
            error = SessionLost(
                f"the daemon at {self.url} had answered {self.answered} batches of this client and knows "
                f"{expected - 1} of them: its machine lost the end of its record"
            )
            self._end(error)
            return
        if slug not in _MENDED or self._refusals > len(_PAUSES):
            self._end(error)
            return
        if slug == "program-unknown":
            self.known.clear()
            for sent in self.flying.values():
                sent.spell_out("sites" in self.transport.extensions)
                self.known.add(sent.message.program)
        elif slug == "quota-exceeded":
            time.sleep(_PAUSES[self._refusals - 1])
        self._reconnect(Dropped(problem.detail))

    def _lost_sending(self, why: Dropped) -> None:
        self._reconnect(why)

    def _reconnect(self, why: Exception, after: float | None = None) -> None:
        """Connect again as the same writer and resend everything unanswered; the server replays what it
        applied. `after` (s): not before. Raises ConnectionFailed if nobody answers in time.
        """
        self._stale = True
        try:
            if after is not None or self.presence.missed:
                self.presence.rest(why, after or 0.0)
            while True:
                try:
                    self.transport.attach((self.writer, self.epoch))
                    for sent in self.flying.values():
                        self.transport.send(frames.encode(sent.message, sent.buffers), sent.message.seq)
                    break
                except (Dropped, ConnectionFailed) as e:
                    self.presence.rest(e)
                except GraddError as e:
                    wait = retry_after(e)
                    if wait is None:
                        self._end(e)
                        break
                    self.presence.rest(e, wait)
        except BaseException as e:
            self.presence.stop()
            self.interrupted = isinstance(e, KeyboardInterrupt)
            raise
        self._stale = self.interrupted = False
        self.flying_bytes = sum(sent.size for sent in self.flying.values())
        self.presence.reached()

    def patience(self) -> AbstractContextManager[None]:
        """What is waited for in it is waited for no longer than `timeout`: then TimedOut."""
        if self.timeout is None and self.watch is None:
            return FOREVER
        return patience(self.timeout, self._give_up, self.watch)

    def _give_up(self) -> bool:
        """Have the session stop what is unanswered, if anything is."""
        if not self.flying:
            return False
        self._called_off = self.seq
        self._knowledge.on(Event.STOPPED)  # what is recorded next waits for what became of it
        call_off(self.transport, self.writer, self.seq)
        return True

    @property
    def busy(self) -> bool:
        """Whether something sent is still unanswered."""
        return bool(self.flying) or self._stale

    def _end(self, error: Exception) -> None:
        """End the session; everything in flight is lost."""
        ends = isinstance(error, (SessionLost, NotAllowed))
        self.ended = error if ends else SessionLost(f"the session refused a batch: {error}")
        self.ended.__cause__ = None if ends else error
        if self.unseen is None:
            self.unseen, self.unseen_seq = self.ended, self.answered + 1
        for sent in self.flying.values():
            sent.lose(0, self.ended, self.lost)
            sent.done()
        self.flying.clear()
        self.flying_bytes = 0
