"""The two servers of the mode of shares: the first asks and publishes, the second answers.

Each notes in its store what it decided about a report, or is about to say of a sum, before it says
it. So a server that is killed at any moment goes on where it was: a report is verified again with
the same outcome, since all of verifying is a function of what the client sent and of the key; it is
counted by its id, once, when the sum is opened; and the second server's noised sum is drawn once.
The first server's noise is drawn when the histogram is made, and nothing but that histogram, which
is kept by the same commit that publishes it, ever shows it. A store belongs to one key: a report
that was verified under two would give its bucket away.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.histogram import Histogram
from sottovoce.advisor.rank.shares import (
    SERVERS,
    Message,
    Outputs,
    ServerSide,
    SharedReport,
    answer_shares,
    ask_shares,
    decide_reports,
    demand_sum,
    digest,
    join_sums,
    list_accepted,
    yield_sum,
)
from sottovoce.errors import InputError, ProtocolError
from sottovoce.web.rank.peer import OPEN, VERIFY, Peer, PeerKey, refuse_bad_answer
from sottovoce.web.rank.service import (
    PUBLISHED,
    Clock,
    RankService,
    Result,
    UntilStopped,
    parse_record,
)
from sottovoce.web.rank.store import HISTOGRAM, OPENING, QUESTION, Store

if TYPE_CHECKING:
    from concurrent.futures import Future

    from sottovoce.web.rank.store import ReportOutcome

AT_ONCE = 250
"""Reports that are verified together: some 30 ms of a core, so that new ones need not wait."""
_PATIENCE_S = 2.0
_ANSWER_S = 10.0
"""How long whoever asks for a histogram waits while it is opened."""
KEPT_PERIODS = 8
"""How long the second server keeps shares that the first does not ask for."""
_CLOSED, _NEVER = "closed", "never"
_BEING_OPENED = "a sum is being opened; ask again in a moment."


class PairedServer(RankService):
    """What both servers of the mode of shares have."""

    place: int
    """0 of the first server, 1 of the second: the standard's leader and helper."""

    def __init__(
        self, description: Description, store: Store, key: PeerKey, *, clock: Clock = time.time
    ) -> None:
        if description.key not in {"", key.tag}:
            raise InputError(
                "these rules belong to servers with another key; give that key: --peer-key."
            )
        super().__init__(description, store, key=key.tag, place=SERVERS[self.place], clock=clock)
        self.key = key

    def _side(self, topic: str, period: int) -> ServerSide:
        return ServerSide(self.description, topic, period, self.key.verify, self.place)

    def warm(self) -> None:
        """Compile what verifies reports, which would else keep the first ones waiting."""
        topic = self.description.topics[0].name
        side, token = self._side(topic, 0), bytes(16).hex()
        made = SharedReport.of_bucket(self.description, topic, 0, token, 0)
        begun = side.begin({token: made.payload(self.place)})[token]
        side.output(begun, begun.share)

    def _decide(self, topic: str, period: int, outputs: Outputs) -> None:
        """Note what was decided; done when it is durable."""
        new = self.use_store(lambda store: store.decide(topic, period, outputs))
        valid = sum(1 for token in new if outputs[token])
        self.telemetry.count("verified", valid)
        self.telemetry.count("refused", len(new) - valid)


class FirstServer(PairedServer):
    """Verifies reports and opens sums together with its peer, and publishes them."""

    place = 0

    def __init__(
        self,
        description: Description,
        store: Store,
        key: PeerKey,
        peer: Peer,
        *,
        clock: Clock = time.time,
    ) -> None:
        super().__init__(description, store, key, clock=clock)
        self._peer = peer
        self._until_stopped = UntilStopped()
        self._turn = threading.Lock()
        self._unasked = _Unasked()

    def verify(self) -> None:
        """Verify with the second server what came in of the running period since the last time.

        What the second server does not hold waits for the end of the period; were it looked at
        every time, whoever sends reports to one server alone could keep that busy.
        """
        period = self.period
        with self._only_one():
            for topic in self.description.by_name:
                with self._unasked.take(topic, period) as tokens:
                    self._verify_some(topic, period, tokens)

    def keep(
        self, topic: str, period: int, token: str, payload: bytes, member: str = ""
    ) -> "Future[ReportOutcome]":
        """Store a report, which the next `verify` asks about; done when it is durable."""
        kept = super().keep(topic, period, token, payload, member)
        kept.add_done_callback(lambda _: self._unasked.add(topic, period, token))
        return kept

    def publish(self, topic: str, period: int) -> dict[str, Any] | None:
        """Open the sum with the second server and publish it; nothing is ever opened twice."""
        with self._only_one():
            earlier = self.use_store(lambda store: store.find(HISTOGRAM, topic, period))
            if earlier:
                return parse_record(earlier)
            if not self.use_store(lambda store: store.number(topic, period)):
                return None
            if not self.use_store(lambda store: store.find(QUESTION, topic, period)):
                self._verify_some(topic, period, None)
            # What was decided about all reports, to which none is added any more.
            self.use_store(lambda store: store.keep_first(QUESTION, topic, period, _CLOSED))
            outputs = self.use_store(lambda store: store.list_outputs(topic, period))
            return self._open_sum(topic, period, outputs)

    def close(self) -> None:
        """Wait for the second server no longer, finish what was asked, and close the store."""
        self._until_stopped.stop()
        super().close()

    def _soon(self, work: Callable[[], Result]) -> Result:
        """The second server may be slow, and what was published before is told meanwhile."""
        try:
            return self._until_stopped.run(work, _ANSWER_S)
        except TimeoutError:
            raise ProtocolError(_BEING_OPENED) from None

    def _ask(self, path: str, message: Message) -> Message:
        return self._until_stopped.run(lambda: self._peer.call(path, message))

    @contextmanager
    def _only_one(self) -> Iterator[None]:
        """Wait for a moment only: the other server may be slow, and whoever asks can ask again."""
        if not self._turn.acquire(timeout=_PATIENCE_S):
            raise ProtocolError(_BEING_OPENED)
        try:
            yield
        finally:
            self._turn.release()

    def _verify_some(self, topic: str, period: int, tokens: Sequence[str] | None) -> None:
        """Verify reports of these ids, some at a time; None: all that wait."""
        for begin in range(0, len(tokens or ()), AT_ONCE):
            some = (tokens or ())[begin:][:AT_ONCE]
            self._verify_page(topic, period, self._find(topic, period, some))
        after = ""
        while tokens is None and (page := self._waiting(topic, period, after)):
            after = max(page)
            self._verify_page(topic, period, page)

    def _find(self, topic: str, period: int, tokens: Sequence[str]) -> dict[str, bytes]:
        return self.use_store(lambda store: store.find_reports(topic, period, tokens))

    def _waiting(self, topic: str, period: int, after: str) -> dict[str, bytes]:
        return self.use_store(lambda store: store.list_waiting(topic, period, after, AT_ONCE))

    def _verify_page(self, topic: str, period: int, reports: Mapping[str, bytes]) -> None:
        """Verify some reports, as far as the second server holds them as well."""
        if not reports:
            return
        side = self._side(topic, period)
        begun = side.begin(reports)
        answered = self._ask(VERIFY, ask_shares(side, begun))
        with refuse_bad_answer():
            outputs = decide_reports(side, begun, answered)
        self._decide(topic, period, outputs)

    def _open_sum(self, topic: str, period: int, outputs: Outputs) -> dict[str, Any]:
        side = self._side(topic, period)
        answered = self._ask(OPEN, demand_sum(side, outputs))
        with refuse_bad_answer():
            number, total = join_sums(side, outputs, answered)
        made = (
            Histogram.of_opened(self.description, topic, period, number, total)
            if number
            else Histogram.withheld(self.description, topic, period)
        )
        record = json.dumps(made.record())
        held = self.use_store(lambda store: store.number(topic, period))
        kept = self.use_store(lambda store: store.keep_first(HISTOGRAM, topic, period, record))
        self._tell(topic, period, outputs, set(answered["dropped"]), held)
        return parse_record(kept)

    def _tell(
        self, topic: str, period: int, outputs: Outputs, dropped: set[str], held: int
    ) -> None:
        """Say what was left out, in numbers."""
        valid = len(list_accepted(outputs))
        left_out = {
            "reports": valid - len(dropped),
            "refused": len(outputs) - valid,
            "not_at_both_servers": held - len(outputs),
            "dropped_as_servers_disagree": len(dropped),
        }
        self.telemetry.count("dropped", left_out["dropped_as_servers_disagree"])
        # Below the minimum not even how many reported is told.
        told = left_out if left_out["reports"] >= self.description.minimum else {}
        self.telemetry.tell(PUBLISHED, topic=topic, period=period, **told)


class _Unasked:
    """The ids of reports that came in since the second server was last asked, by topic and period.

    What came in before this process began is in the store alone; it is told by None, once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tokens: dict[tuple[str, int], set[str] | None] = {}

    def add(self, topic: str, period: int, token: str) -> None:
        with self._lock:
            known = self._tokens.get((topic, period))
            if known is not None:
                known.add(token)

    @contextmanager
    def take(self, topic: str, period: int) -> Iterator[list[str] | None]:
        """Those of ``topic`` that were not asked about; they still are where the block fails."""
        key = (topic, period)
        with self._lock:
            tokens = self._tokens.get(key)
            # Of other periods of the topic nobody asks any more, but for what is published.
            for other in [each for each in self._tokens if each[0] == topic]:
                del self._tokens[other]
            self._tokens[key] = set()
        try:
            yield None if tokens is None else sorted(tokens)
        except BaseException:
            with self._lock:
                later = self._tokens[key] or set()
                self._tokens[key] = None if tokens is None else tokens | later
            raise


class SecondServer(PairedServer):
    """Answers its peer; its own histograms are the first server's to publish."""

    place = 1

    def publish(self, topic: str, period: int) -> None:
        """Publish nothing, which is the first server's to do; forget what it never asked for."""
        late = period + KEPT_PERIODS < self.period
        if late and self.use_store(lambda store: store.number(topic, period)):
            record = json.dumps({"demanded": _NEVER, "sum": "", "dropped": []})
            self.use_store(lambda store: store.keep_first(OPENING, topic, period, record))
            self.telemetry.tell("shares deleted, never asked for", topic=topic, period=period)

    def answer_verify(self, asked: Mapping[str, Any]) -> Message:
        """Step 2: this server's verifier shares; what it decides is noted before they leave."""
        topic, period = asked["topic"], asked["period"]
        held = self.use_store(lambda store: _find_verifiable(store, asked))
        side = self._side(topic, period)
        answered, outputs = answer_shares(side, side.begin(held), asked)
        self._decide(topic, period, outputs)
        return answered

    def answer_open(self, demanded: Mapping[str, Any]) -> Message:
        """Step 5: this server's noised sum, drawn once; then its shares are deleted."""
        topic, period, tag = demanded["topic"], demanded["period"], digest(demanded)
        if period >= self.period:
            raise ProtocolError("this period is not over.")
        noted = self.use_store(lambda store: store.find(OPENING, topic, period))
        if noted is None:
            outputs = self.use_store(lambda store: _note_demand(store, demanded, tag))
            made = yield_sum(self._side(topic, period), outputs, demanded)
            record = json.dumps({"demanded": tag} | made)
            noted = self.use_store(lambda store: store.keep_first(OPENING, topic, period, record))
            self._tell(topic, period, made)
        found = parse_record(noted)
        demanded_before = found.pop("demanded")
        if demanded_before == _NEVER:
            return found | {"dropped": demanded["tokens"]}
        if demanded_before != tag:
            raise ProtocolError("another sum of this topic and period was opened already.")
        return found

    def _tell(self, topic: str, period: int, made: Message) -> None:
        self.telemetry.count("dropped", len(made["dropped"]))
        told = {"dropped_as_servers_disagree": len(made["dropped"])} if made["sum"] else {}
        self.telemetry.tell("sum opened", topic=topic, period=period, **told)


def _find_verifiable(store: Store, asked: Mapping[str, Any]) -> dict[str, bytes]:
    if store.find(QUESTION, asked["topic"], asked["period"]) is not None:
        raise ProtocolError("the sum of this topic and period is open already, or is being opened.")
    return store.find_reports(asked["topic"], asked["period"], asked["tokens"])


def _note_demand(store: Store, demanded: Mapping[str, Any], tag: str) -> dict[str, bytes]:
    """What was decided, once it is noted which sum was demanded: no other one ever is opened."""
    topic, period = demanded["topic"], demanded["period"]
    if store.keep_first(QUESTION, topic, period, tag) != tag:
        raise ProtocolError("another sum of this topic and period was demanded already.")
    return store.list_outputs(topic, period)
