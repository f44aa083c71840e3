"""The inbox: frames are checked before bodies are read, and journalled before acknowledged."""

from collections.abc import Callable
from typing import TypeAlias

from sottovoce.errors import (
    BadFrameError,
    MessageRefusedError,
    ProtocolError,
    RunRefusedError,
    StrangerError,
    TooLargeError,
)
from sottovoce.federation._node.aborts import Aborts, plain_text
from sottovoce.federation._node.state import NodeState, Run, new_run
from sottovoce.federation.transport.frames import (
    VERSION,
    Answer,
    Complaint,
    Frame,
    Header,
    Proposal,
    unpack_frame,
)
from sottovoce.privacy.randomness import SEED_BYTES, system_bytes

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
