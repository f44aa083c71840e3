"""What comes into a node and leaves it: its inbox, its outbox, and errors that abort a run.

Frames are checked before their bodies are read, and journalled before they are acknowledged.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from sottovoce.errors import (
    BadFrameError,
    MessageRefusedError,
    ProtocolError,
    RunRefusedError,
    SottovoceError,
    StrangerError,
    TooLargeError,
)
from sottovoce.federation._node.state import Link, NodeState, Run, ended_as, new_run
from sottovoce.federation.transport.frames import (
    VERSION,
    Answer,
    Complaint,
    Frame,
    Header,
    OutgoingFrame,
    Proposal,
    pack_frame,
    unpack_frame,
)
from sottovoce.privacy.randomness import SEED_BYTES, system_bytes

# From terms and who was lost to the terms of the others, or None if they are too few.
TermsWithout: TypeAlias = Callable[[bytes, frozenset[str]], bytes | None]
# Begins a run of these terms among these participants, and gives back its session.
Propose: TypeAlias = Callable[[bytes, tuple[str, ...], float], bytes]


class Aborts:
    """Ends runs; the coordinator tells everybody, and may begin again without the lost."""

    def __init__(
        self, state: NodeState, *, propose: Propose, terms_without: TermsWithout | None = None
    ) -> None:
        self._state, self._propose, self._terms_without = state, propose, terms_without
        self._attempts: dict[bytes, int] = {}

    def abort(
        self, run: Run, error: SottovoceError, now: float, *, missing: Iterable[str] = ()
    ) -> None:
        """End a run here, and tell all others why."""
        lost = {*missing, *getattr(error, "missing", ())}
        self._end(run, ended_as(error, self._state.name, lost), run.others(self._state.name), now)

    def aborted_by(self, run: Run, sender: str, complaint: Complaint, now: float) -> None:
        """Another party has ended the run; the coordinator tells the others.

        Who was lost before has no say any more: the others have gone on without it.
        """
        if sender in run.lost:
            self._state.log("abort ignored", session=run.session.hex(), sender=sender)
            return
        others = run.others(self._state.name) if self._state.coordinates else ()
        ended: dict[str, object] = {
            "by": sender,
            "error": plain_text(complaint.error, 80),
            "sentence": plain_text(complaint.sentence, 400),
            "missing": [name for name in complaint.missing if name in run.participants],
        }
        self._end(run, ended, [other for other in others if other != sender], now)

    def _end(
        self, run: Run, ended: dict[str, object], receivers: Iterable[str], now: float
    ) -> None:
        if run.status != "running":
            return
        state = self._state
        body = pack_frame(_complaint(ended, state.name))
        outputs = [OutgoingFrame(other, 0, "abort", {"kind": "abort"}, body) for other in receivers]
        run.status, run.ended = "aborted", dict(ended)
        run.party, run.seed, run.waiting = None, b"", []
        for link in run.links.values():
            link.waiting = []
        state.journal.abort(run.session, ended, outputs)
        state.queue(run, outputs, now)
        run.drained = not outputs
        # Here with the sentence that others may not hear.
        own = {"sentence": ended["sentence"]} if ended["by"] == state.name else {}
        by, error = ended["by"], ended["error"]
        state.log("run aborted", session=run.session.hex(), by=by, error=error, **own)
        self._begin_again(run, now)

    def _begin_again(self, run: Run, now: float) -> None:
        state, missing = self._state, frozenset(run.ended["missing"])
        limits, attempt = state.settings, self._attempts.get(run.session, 1)
        # Only whom the coordinator itself has missed: a peer must not vote others out.
        if not (missing and state.coordinates and run.ended["by"] == state.name):
            return
        wanted = limits.retry_without_lost and attempt < limits.most_attempts
        if self._terms_without is None or not wanted:
            return
        terms = self._terms_without(run.terms, missing)
        if terms is None:
            return
        left = tuple(name for name in run.participants if name not in missing)
        following = self._propose(terms, left, now)
        self._attempts[following] = attempt + 1
        run.followed_by = following
        state.journal.follow(run.session, following)


def plain_text(text: str, most: int) -> str:
    """Another party's words as they may be shown: no control characters, and not too many."""
    return "".join(each for each in text[:most] if each.isprintable())


def _complaint(ended: dict[str, object], own: str) -> Complaint:
    missing = [str(name) for name in ended["missing"]]  # type: ignore[attr-defined] # a list of names
    return Complaint(str(ended["error"]), _sentence_for_others(ended, own), missing)


def _sentence_for_others(ended: dict[str, object], own: str) -> str:
    # Sentences of protocols speak of parties and messages; others may speak of a party's own data.
    if ended["by"] != own or str(ended["error"]) in _public_names():
        return str(ended["sentence"])
    return f"at {own}, sottovoce learn status says why."


def _public_names() -> set[str]:
    found, left = set(), [ProtocolError]
    while left:
        kind = left.pop()
        found.add(kind.__name__)
        left += kind.__subclasses__()
    return found


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

    def settle(self, frame: Frame, answer: Answer | None, now: float) -> None:
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
            self._note_acknowledged(run, link, header.receiver, now)
        elif answer.outcome == "ended":
            complaint = Complaint(answer.error, answer.sentence)
            self._aborts.aborted_by(run, header.receiver, complaint, now)
        else:
            self._note_refused(run, header.receiver, header.kind, answer, now)

    def give_up(self, run: Run, receiver: str) -> None:
        """Stop sending what an ended run still has for somebody who does not answer."""
        link = run.links[receiver]
        for sequence in link.waiting:
            self._state.journal.acknowledge(run.session, receiver, sequence, given_up=True)
        link.waiting = []
        run.drained = not run.unsent()
        self._state.log("gave up", session=run.session.hex(), receiver=receiver)

    def _note_acknowledged(self, run: Run, link: Link, receiver: str, now: float) -> None:
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

    def _note_refused(self, run: Run, receiver: str, kind: str, answer: Answer, now: float) -> None:
        made = RunRefusedError if kind == "propose" else MessageRefusedError
        name = "" if answer.error == made.__name__ else f"{answer.error}: "
        error = made(plain_text(f"{receiver} refuses: {name}{answer.sentence}", 500))
        self._aborts.abort(run, error, now)

    def _frame(self, run: Run, receiver: str, sequence: int) -> Frame:
        kind, body = self._state.journal.read_frame(run.session, "out", receiver, sequence)
        return Frame.make(kind, run.session, self._state.name, receiver, sequence, body)


# From proposed terms and who proposes them to a sentence that says why not, or None: agreed.
Policy: TypeAlias = Callable[[bytes, str], str | None]

TAKEN = Answer(VERSION, "taken")
LATER = Answer(VERSION, "later")


class MessageInbox:
    """Decides which frames are taken, put off or refused."""

    def __init__(self, state: NodeState, aborts: Aborts, policy: Policy) -> None:
        self._state, self._aborts, self._policy = state, aborts, policy

    def admit(self, header: Header) -> Answer | None:
        """What a header alone is answered; None: let its body come."""
        try:
            self._check(header)
        except ProtocolError as error:
            self._state.log(
                "frame refused",
                sender=header.sender[:80],
                kind=header.kind,
                error=type(error).__name__,
            )
            return refusal(error)
        run = self._state.runs.get(header.session)
        if run is None:
            return self._of_unknown_run(header)
        return self._of_run(run, header)

    def take(self, frame: Frame, now: float) -> Answer:
        """Journal a frame, and answer it."""
        answer = self.admit(frame.header)
        if answer is not None:
            return answer
        try:
            frame.check_body()
            answer = self._take_frame(frame, now)
        except BadFrameError as error:
            self._log(frame.header, type(error).__name__)
            return LATER
        self._state.hook("after hold")
        return answer

    def _check(self, header: Header) -> None:
        state = self._state
        if header.receiver != state.name:
            raise BadFrameError(f"a frame for another party came to {state.name}.")
        if header.sender not in state.roster or header.sender == state.name:
            raise StrangerError("a frame must come from another party of the roster.")
        if header.size > state.settings.largest_body:
            raise TooLargeError(
                f"{state.name} takes at most {state.settings.largest_body} bytes in a body, got "
                f"one of {header.size} declared."
            )

    def _of_unknown_run(self, header: Header) -> Answer | None:
        if header.kind == "abort":
            return TAKEN
        if header.kind != "propose":
            return LATER
        if self._state.roster[header.sender].role != "coordinator" or header.sequence != 1:
            self._log(header, "RunRefusedError")
            return refusal(RunRefusedError("only the coordinator proposes runs."))
        return None

    def _of_run(self, run: Run, header: Header) -> Answer | None:
        if header.sender not in run.participants:
            self._log(header, "StrangerError")
            return refusal(StrangerError(f"{header.sender} takes no part in this run."))
        if run.status == "aborted":
            if header.kind == "abort":
                return TAKEN
            return Answer(VERSION, "ended", run.ended["error"], run.ended["sentence"])
        last = run.last_in.get(header.sender, 0)
        repeated = header.kind != "abort" and header.sequence <= last
        if run.status == "finished" or repeated:
            self._log(header, "ReplayedMessageError" if repeated else "LateMessageError")
            return TAKEN
        held = sum(sender == header.sender for sender, _ in run.waiting)
        if header.sequence > last + 1 or held >= self._state.settings.most_held:
            return LATER
        return None

    def _take_frame(self, frame: Frame, now: float) -> Answer:
        header, body = frame
        if header.kind == "propose":
            return self._taken_proposal(header, unpack_frame(body, Proposal), now)
        run = self._state.runs.get(header.session)
        if run is None:
            return TAKEN
        run.heard[header.sender] = run.busy_heard = now
        if header.kind == "abort":
            self._aborts.aborted_by(run, header.sender, unpack_frame(body, Complaint), now)
            return TAKEN
        self._state.hook("before hold")
        place = (header.sender, header.sequence)
        self._state.journal.hold(header.session, *place, header.kind, body)
        run.last_in[header.sender] = header.sequence
        if header.kind == "refusal":
            self._abort_refused(run, header.sender, unpack_frame(body, Complaint), now)
        else:
            run.waiting.append(place)
        return TAKEN

    def _abort_refused(self, run: Run, sender: str, complaint: Complaint, now: float) -> None:
        """What this party said was refused: it cannot go on as if it had been heard."""
        said = f"{sender} refuses a message: {complaint.error}: {complaint.sentence}"
        self._aborts.abort(run, MessageRefusedError(plain_text(said, 500)), now)

    def _taken_proposal(self, header: Header, proposal: Proposal, now: float) -> Answer:
        state = self._state
        why_not = self._find_refusal(header, proposal)
        if why_not is not None:
            state.log("run refused", session=header.session.hex(), sender=header.sender)
            return refusal(RunRefusedError(why_not))
        seed = system_bytes(SEED_BYTES)
        run = new_run(header.session, proposal.participants, proposal.terms, seed, state.name, now)
        state.hook("before hold")
        state.journal.add_run(
            run.session,
            run.terms,
            run.participants,
            seed,
            proposal=(header.sender, header.sequence, header.size),
        )
        run.last_in[header.sender] = header.sequence
        state.runs[run.session] = run
        state.log("run agreed", session=run.session.hex(), sender=header.sender)
        return TAKEN

    def _find_refusal(self, header: Header, proposal: Proposal) -> str | None:
        names = proposal.participants
        if proposal.session != header.session:
            return "a run must be named by its terms and participants."
        if self._state.name not in names or len(set(names)) != len(names):
            return f"{self._state.name} must be among the participants, and each only once."
        if not all(name in self._state.roster for name in names):
            return (
                "every participant must be on the roster here; if one has joined just now, "
                "propose it again in a moment."
            )
        return self._policy(proposal.terms, header.sender)

    def _log(self, header: Header, error: str) -> None:
        self._state.log(
            "frame not taken",
            sender=header.sender[:80],
            session=header.session.hex(),
            sequence=header.sequence,
            kind=header.kind,
            error=error,
        )


def refusal(error: ProtocolError) -> Answer:
    """An error as an answer that ends the matter."""
    return Answer(VERSION, "refused", type(error).__name__, str(error))
