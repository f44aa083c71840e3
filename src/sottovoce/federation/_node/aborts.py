"""How a run is aborted: with a named error, at every party."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from sottovoce.errors import ProtocolError, SottovoceError
from sottovoce.federation._journal.rows import OutgoingFrame
from sottovoce.federation._node.state import NodeState, Run, ended_as
from sottovoce.federation.transport.frames import Complaint, packed

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
        body = packed(_complaint(ended, state.name))
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
