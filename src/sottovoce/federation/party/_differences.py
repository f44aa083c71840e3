"""Trainings that differ too little: what two of them open tells apart what only one of them has.

A sum over all peers, less the same sum without one of them, is that peer's part; two held-out
shares or two dictionaries differ by a few documents or words. So a party compares a proposed
training with every earlier one that may have opened something, and leaves it to a person whether it
takes part in another (see `approvals`).

Any other group of peers counts as close, however many they are: of seven peers the sums of all, of
three and of another three leave the seventh's, and none of these trainings differs from another by
fewer than three. Who was lost on the way counts too: a run is compared by those among whom its sums
were opened, where this party has noted them.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sottovoce.federation._node.exchange import plain_text
from sottovoce.federation.config import Accepts
from sottovoce.federation.party._policy import RULES, field_value
from sottovoce.federation.party.approvals import is_approved, note_asked
from sottovoce.federation.party.history import TRAININGS, RunHistory
from sottovoce.learn.run.terms import RunTerms

_EVALUATE = "evaluate"
_LONGEST, _LONGEST_SENTENCE = 1000, 200
# What a peer says when it gives something of its data away, under masks or encrypted.
GIVING = frozenset({"masked", "summand", "examples"})
# From the session of a run's terms to the groups of peers over whom sums were opened in it.
AmongIn = Callable[[bytes], tuple[tuple[str, ...], ...]]


class TermsMemory:
    """What a peer makes of earlier terms.

    Args:
        store: where approvals are.
        accepts: what its configuration says.
        name: of the peer.
        restored: when the store was put back from a copy; 0: never.
        among: among whom earlier runs have opened sums, as far as that was noted.
    """

    def __init__(
        self,
        store: Path,
        accepts: Accepts,
        name: str,
        restored: int = 0,
        among: AmongIn = lambda _: (),
    ) -> None:
        self._store, self._accepts, self._name = store, accepts, name
        self._restored, self._among = restored, among

    def find_refusal(
        self, terms: RunTerms, history: Iterable[RunHistory], said: Callable[[bytes], set[str]]
    ) -> str | None:
        """Why the peer takes no part in a training after those of its history, or None.

        ``said`` gives the kinds of all that it has said in a run.
        """
        if terms.kind not in (*TRAININGS, _EVALUATE):
            return None
        if self._restored and not is_approved(self._store, f"restored-{self._restored}"):
            return self._explain_forgotten(f"restored-{self._restored}")
        earlier = [run for run in history if _is_compared(run.terms, terms)]
        opened = [run for run in earlier if could_open(run, said(run.session))]
        most = self._accepts.most_trainings
        if terms.kind in TRAININGS and len(opened) >= most:
            return (
                f"{self._name} takes part in at most {most} trainings, and {len(opened)} are done; "
                "see most_trainings in [accepts] of its party.toml."
            )
        changed = changes(terms, earlier[-1].terms) if earlier else []
        return self._ask_owner(terms, self._nearest(terms, opened), changed)

    def _explain_forgotten(self, name: str) -> str:
        note_asked(self._store, name, ["trainings since the copy was made are not known"])
        return (
            f"the store of {self._name} was restored from a copy, and what it took part in since is"
            " not known. If somebody there knows that nothing was: sottovoce learn approve "
            f"{name} --config party.toml, and propose again."
        )

    def _past_terms(self, run: RunHistory) -> list[RunTerms]:
        """An earlier run's terms, with the peers over whom its sums went in place of all."""
        known = run.terms.identities
        groups = [
            {name: public for name, public in known.items() if name in group}
            for group in self._among(run.terms.session)
        ]
        return [replace(run.terms, identities=each) for each in groups] or [run.terms]

    def _nearest(self, terms: RunTerms, opened: Iterable[RunHistory]) -> list[str]:
        """In what terms differ from the nearest run; in nothing, if one was the very same.

        That opens no more than it did then, whatever came between the two.
        """
        near: list[list[str]] = []
        for run in opened:
            groups = self._past_terms(run)
            if not any(differences(terms, each) for each in groups):
                return []
            near += [self._near(terms, run, each) for each in groups]
        return min(filter(None, near), key=len, default=[])

    def _near(self, terms: RunTerms, run: RunHistory, earlier: RunTerms) -> list[str]:
        found = differences(terms, earlier)
        gone, come = _sides(terms, earlier)
        only_lost = run.status == "aborted" and gone and not come and len(found) == 1
        return [] if only_lost and self._accepts.without_lost else found

    def _ask_owner(self, terms: RunTerms, differs: list[str], changed: list[str]) -> str | None:
        name = terms_id(terms)
        if not differs or is_approved(self._store, name):
            return None
        since = [f"since the last run {each}" for each in changed if each not in differs]
        note_asked(self._store, name, [*differs, *since])
        shown = plain_text("; ".join(differs), _LONGEST_SENTENCE)
        return (
            f"{self._name} took part in a run that differs from this one: {shown}. "
            "What both open would tell single documents or peers apart. If somebody there wants it "
            f"all the same: sottovoce learn approve {name} --config party.toml, and propose again."
        )


def _is_compared(earlier: RunTerms, terms: RunTerms) -> bool:
    if terms.kind == _EVALUATE:
        return earlier.kind == _EVALUATE and earlier.training == terms.training
    return earlier.kind in TRAININGS


def terms_id(terms: RunTerms) -> str:
    """What terms are called by when somebody approves them: the same for every session.

    It is their whole SHA-256: two proposals whose digests begin alike are made in minutes.
    """
    same = replace(terms, session=bytes(len(terms.session)))
    return digest_of(same.to_bytes())


def digest_of(data: bytes) -> str:
    """SHA-256, whole."""
    return hashlib.sha256(data).hexdigest()


def could_open(run: RunHistory, said: Iterable[str]) -> bool:
    """Whether a run may have opened a sum: not if it ended before this party gave any."""
    return run.status != "aborted" or not GIVING.isdisjoint(said)


def differences(terms: RunTerms, earlier: RunTerms) -> list[str]:
    """In which fields the two are too close to each other, each in words."""
    apart = (field for field, rule in RULES.items() if rule.apart)
    return [said for field in apart if (said := _difference(field, terms, earlier))]


def changes(terms: RunTerms, earlier: RunTerms) -> list[str]:
    """In which fields the two differ at all, but for the run's own name."""
    fields = (field for field in RULES if field != "session")
    return [said for field in fields if (said := _difference(field, terms, earlier))]


def _sides(terms: RunTerms, earlier: RunTerms) -> tuple[set[str], set[str]]:
    new, old = set(terms.identities.items()), set(earlier.identities.items())
    return {name for name, _ in old - new}, {name for name, _ in new - old}


def _difference(field: str, terms: RunTerms, earlier: RunTerms) -> str:
    if field == "identities":
        gone, come = _sides(terms, earlier)
        other = "by another identity"
        sides = (("without", gone - come), ("with", come - gone), (other, gone & come))
        said = ", ".join(f"{what} {', '.join(sorted(names))}" for what, names in sides if names)
        return plain_text(said, _LONGEST)
    (_, new), (_, old) = field_value(terms, field), field_value(earlier, field)
    if _same(new, old):
        return ""
    # The names are those of whoever proposes.
    return plain_text(f"{field.rpartition('.')[2]} {_show_change(old, new)}", _LONGEST)


def _same(new: Any, old: Any) -> bool:  # noqa: ANN401 - values of a field
    if hasattr(new, "entries") and hasattr(old, "entries"):
        return bool(
            new.width == old.width
            and new.entries.tobytes() == old.entries.tobytes()
            and new.weights.tobytes() == old.weights.tobytes()
        )
    return bool(new == old)


def _show_change(old: Any, new: Any) -> str:  # noqa: ANN401 - values of a field
    """Numbers and names as they are; of lists and maps how much, and the new one's SHA-256."""
    if isinstance(new, tuple) and isinstance(old, tuple):
        more, fewer = len(set(new) - set(old)), len(set(old) - set(new))
        lines = "".join(f"{each}\n" for each in new).encode()
        return (
            f"{len(old)} -> {len(new)} entries, {more} more and {fewer} fewer, now with the "
            f"SHA-256 {digest_of(lines)}"
        )
    return f"{_value(old)} -> {_value(new)}"


def _value(value: Any) -> str:  # noqa: ANN401 - of a field
    if hasattr(value, "entries"):
        content = value.entries.tobytes() + value.weights.tobytes()
        return f"a map of {len(value.entries)} entries with the SHA-256 {digest_of(content)}"
    return value.hex() if isinstance(value, bytes) else str(value)
