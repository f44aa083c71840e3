"""The outbox: one frame at a time to each receiver of a run, until it is acknowledged."""

from sottovoce.errors import MessageRefusedError, RunRefusedError
from sottovoce.federation._node.aborts import Aborts, plain_text
from sottovoce.federation._node.state import Link, NodeState, Run
from sottovoce.federation.transport.frames import Answer, Complaint, Frame


class MessageOutbox:
    """Chooses what to send next, and acts on the answers."""

    def __init__(self, state: NodeState, aborts: Aborts) -> None:
        self._state, self._aborts = state, aborts

    def due(self, receiver: str, now: float) -> Frame | None:
        """The next frame for a receiver; it counts as under way until it is settled."""
        for run in self._state.runs.values():
            link = run.links.get(receiver)
            if link is not None and link.waiting and not link.under_way and link.due <= now:
                link.under_way = True
                return self._frame(run, receiver, link.waiting[0])
        return None

    def next_due(self, receiver: str) -> float | None:
        """When the next frame for a receiver can go; None while there is none."""
        links = (run.links.get(receiver) for run in self._state.runs.values())
        times = [link.due for link in links if link and link.waiting and not link.under_way]
        return min(times, default=None)

    def settled(self, frame: Frame, answer: Answer | None, now: float) -> None:
        """A frame was answered, or (None) nobody knows what became of it."""
        header = frame.header
        run = self._state.runs[header.session]
        link = run.links[header.receiver]
        link.under_way = False
        if header.sequence not in link.waiting:
            return  # the run ended while it was under way
        if answer is None or answer.outcome == "later":
            self._retry(run, link, header.receiver, answer, now)
            return
        run.heard[header.receiver] = now
        self._state.hook("after send")
        if answer.outcome == "taken" or header.kind == "abort":
            self._acknowledged(run, link, header.receiver, now)
        elif answer.outcome == "ended":
            complaint = Complaint(answer.error, answer.sentence)
            self._aborts.aborted_by(run, header.receiver, complaint, now)
        else:
            self._refused(run, header.receiver, header.kind, answer, now)

    def give_up(self, run: Run, receiver: str) -> None:
        """Stop sending what an ended run still has for somebody who does not answer."""
        link = run.links[receiver]
        for sequence in link.waiting:
            self._state.journal.acknowledge(run.session, receiver, sequence, given_up=True)
        link.waiting = []
        run.drained = not run.unsent()
        self._state.log("gave up", session=run.session.hex(), receiver=receiver)

    def _acknowledged(self, run: Run, link: Link, receiver: str, now: float) -> None:
        sequence = link.waiting.pop(0)
        self._state.journal.acknowledge(run.session, receiver, sequence)
        link.failures, link.due, link.since = 0, now, now
        run.drained = run.status != "running" and not run.unsent()
        self._state.hook("after acknowledgement")

    def _retry(
        self, run: Run, link: Link, receiver: str, answer: Answer | None, now: float
    ) -> None:
        if answer is not None:
            run.heard[receiver] = now
        link.failures += 1
        link.due = now + self._state.settings.wait(link.failures)

    def _refused(self, run: Run, receiver: str, kind: str, answer: Answer, now: float) -> None:
        made = RunRefusedError if kind == "propose" else MessageRefusedError
        name = "" if answer.error == made.__name__ else f"{answer.error}: "
        error = made(plain_text(f"{receiver} refuses: {name}{answer.sentence}", 500))
        self._aborts.abort(run, error, now)

    def _frame(self, run: Run, receiver: str, sequence: int) -> Frame:
        kind, body = self._state.journal.body_out(run.session, receiver, sequence)
        return Frame.of(kind, run.session, self._state.name, receiver, sequence, body)
