"""What a party agrees to: a rule for every field of a run's terms, with ranges from ``[accepts]``.

The coordinator chooses the terms, and the peers bear the risk. A field without a rule would be a
way round all the others; a test fails when the terms get a field that has none.

A rule also says whether two trainings that differ in its field tell documents or peers apart by
their difference (``apart``). A sum over all peers, less the same sum without one of them, is that
peer's part; two held-out shares or two dictionaries differ by a few documents or words. So a party
compares a proposed training with every earlier one that may have opened something, and leaves it to
a person whether it takes part in another (see `memory`).

Any other group of peers counts as close: of seven peers the sums of all, of three and of another
three leave the seventh's. A run is compared by those among whom its sums were opened, if noted.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sottovoce.errors import ParameterError
from sottovoce.federation._node.exchange import plain_text
from sottovoce.federation.config import Accepts
from sottovoce.federation.party.approvals import is_approved, note_asked
from sottovoce.federation.party.history import TRAININGS, RunHistory
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.sums.fixed import FEWEST_PARTIES

_FEWEST_PLACES = 8
_FEWEST_KEY_BITS = 2048
_SMALLEST_PENALTY, _LARGEST_PENALTY = 1e-9, 1e9
_MOST_PENALTIES = 100
_MOST_LISTED = 1 << 20
_IN_FILE = "; see [accepts] in its party.toml."
# From a field's value, all terms and what is accepted to what is wrong with it, or None.
Check = Callable[[Any, RunTerms, Accepts], str | None]


@dataclass(frozen=True)
class Rule:
    """What a party looks at in one field.

    Attributes:
        why: in words, for people.
        check: what is wrong with a value, as the end of "... accepts"; None: any value will do.
        apart: whether trainings that differ in this field are told apart by what they open.
    """

    why: str
    check: Check | None = None
    apart: bool = False


def check_policy(terms: RunTerms, accepts: Accepts, name: str) -> None:
    """Refuse terms of which a field is beyond what ``name`` accepts."""
    for field, rule in RULES.items():
        present, value = field_value(terms, field)
        wrong = rule.check(value, terms, accepts) if present and rule.check else None
        if wrong is not None:
            raise ParameterError(f"{name} {wrong}")


def field_value(terms: RunTerms, field: str) -> tuple[bool, Any]:
    """A field by its path, ``recipe.rados`` for one; absent where texts are not what a run has."""
    value: Any = terms
    for part in field.split("."):
        if value is None:
            return False, None
        value = getattr(value, part)
    return True, value


def _check_among(listed: str) -> Check:
    def check(value: object, terms: RunTerms, accepts: Accepts) -> str | None:
        allowed = getattr(accepts, listed)
        if value in allowed or (listed == "modes" and terms.count is not None):
            return None
        known = ", ".join(allowed) or "of no run"
        return f"accepts the {listed} {known}, got {value}{_IN_FILE}"

    return check


def _check_range(field: str, least: float, most: str) -> Check:
    def check(value: Any, _: RunTerms, accepts: Accepts) -> str | None:  # noqa: ANN401 - a number
        highest = getattr(accepts, most)
        if value is None or least <= value <= highest:
            return None
        return f"accepts {field} from {least:g} to {highest:g}, got {value:g}{_IN_FILE}"

    return check


def _check_least(field: str) -> Check:
    def check(value: int, _: RunTerms, accepts: Accepts) -> str | None:
        least = getattr(accepts, field)
        return None if value >= least else f"accepts {field} from {least} on, got {value}."

    return check


def _check_listed(field: str) -> Check:
    def check(value: Any, _: RunTerms, accepts: Accepts) -> str | None:  # noqa: ANN401 - a list
        most = accepts.most_features if field != "stop_words" else _MOST_LISTED
        if len(value) <= most:
            return None
        return f"accepts at most {most} {field}, got {len(value)}{_IN_FILE}"

    return check


def _check_peers(value: Any, _: RunTerms, accepts: Accepts) -> str | None:  # noqa: ANN401 - names
    if len(value) >= FEWEST_PARTIES or accepts.two_peers:
        return None
    return (
        f"trains among at least {FEWEST_PARTIES} peers, got {len(value)}; two_peers = true in its "
        "party.toml accepts that each learns the other's sums."
    )


def _check_contributors(value: Any, _: RunTerms, accepts: Accepts) -> str | None:  # noqa: ANN401 - names
    if not value or accepts.contributors:
        return None
    return f"adds no scores to other peers' queries; contributors = true accepts it{_IN_FILE}"


def _check_penalty(value: float | None, _: RunTerms, __: Accepts) -> str | None:
    if value is None or _SMALLEST_PENALTY <= value <= _LARGEST_PENALTY:
        return None
    return f"accepts penalty from {_SMALLEST_PENALTY:g} to {_LARGEST_PENALTY:g}, got {value:g}."


def _check_penalties(value: Any, _: RunTerms, __: Accepts) -> str | None:  # noqa: ANN401 - numbers
    if len(value) <= _MOST_PENALTIES and all(each > 0 for each in value):
        return None
    return f"accepts at most {_MOST_PENALTIES} penalties > 0, got {len(value)}."


def _check_map(value: Any, _: RunTerms, __: Accepts) -> str | None:  # noqa: ANN401 - a map or None
    if value is None or bool((value.weights == 1).all()):
        return None
    return (
        "accepts maps whose weights are all 1, got others: with large weights a column of a common "
        "word can hide a rare one."
    )


RULES: dict[str, Rule] = {
    "session": Rule("every run has one of its own, which the journal knows"),
    "kind": Rule("each kind is looked at by its other fields"),
    "mode": Rule("who learns what; a count says it by itself", _check_among("modes")),
    "identities": Rule("among whom sums are opened", _check_peers, apart=True),
    "recipe.statistics": Rule("what is summed", _check_among("statistics")),
    "recipe.penalty": Rule("public, and of the solve alone", _check_penalty),
    "recipe.penalties": Rule("public, and of the solve alone", _check_penalties),
    "recipe.fraction_bits": Rule(
        "how exact sums are", _check_range("fraction_bits", _FEWEST_PLACES, "most_fraction_bits")
    ),
    "recipe.moment_bits": Rule(
        "how exact moments are", _check_range("moment_bits", _FEWEST_PLACES, "most_fraction_bits")
    ),
    "recipe.rados": Rule("how many are made", _check_range("rados", 1, "most_rados")),
    "recipe.fewest_documents": Rule("who may stand out", _check_least("fewest_documents")),
    "recipe.fewest_peers": Rule("who may stand out", _check_least("fewest_peers")),
    "recipe.allow_rare": Rule("nothing without fewest_documents and fewest_peers"),
    "recipe.allow_two": Rule("nothing without fewer peers, see identities"),
    "recipe.key_bits": Rule(
        "how hard keys are", _check_range("key_bits", _FEWEST_KEY_BITS, "most_key_bits")
    ),
    "recipe.solver": Rule("how hidden sums are solved", _check_among("solvers")),
    "recipe.queries": Rule(
        "rows a peer may ask for", _check_range("queries", 1, "most_queries"), apart=True
    ),
    "recipe.queries_together": Rule(
        "rows that all may ask for", _check_range("queries_together", 1, "most_queries"), apart=True
    ),
    "text.dictionary": Rule("which words count", _check_among("dictionaries"), apart=True),
    "text.words": Rule("which words count", _check_listed("words"), apart=True),
    "text.values": Rule("what a word's number is", apart=True),
    "text.width": Rule("how many columns", _check_range("width", 1, "most_features"), apart=True),
    "text.signed": Rule("how hashed words add up", apart=True),
    "text.keyed": Rule("who can hash a word, and so which share a column", apart=True),
    "text.buckets": Rule("which words share a column", apart=True),
    "text.candidates": Rule("bounded by the buckets"),
    "text.padded": Rule("whether the number of candidates shows"),
    "text.candidate_documents": Rule("a peer's own words with fewer documents stay out"),
    "text.unit": Rule("what has a label", apart=True),
    "text.declared": Rule("whether it shows which words a peer has"),
    "text.shortest": Rule("which words count", apart=True),
    "text.stem": Rule("which words are one", apart=True),
    "text.bigrams": Rule("which words count", apart=True),
    "text.stop_words": Rule("which words count", _check_listed("stop_words"), apart=True),
    "text.mapping": Rule("which words share a column", _check_map, apart=True),
    "features": Rule("which columns count", _check_listed("features"), apart=True),
    "labels": Rule("public names; a peer whose labels are others refuses by itself"),
    "most_classes": Rule("bounded by the terms themselves"),
    "held_out": Rule(
        "which documents are in no sum", _check_range("held_out", 0, "most_held_out"), apart=True
    ),
    "training": Rule("must be one that this party took part in"),
    "asker": Rule("must be the peer that asks the coordinator"),
    "rows": Rule(
        "counted by the helpers; evaluations differ by those that one has more", apart=True
    ),
    "contributors": Rule("who adds to others' scores", _check_contributors),
    "offset": Rule("what contributors add, see there"),
    # A count has a limit for each in [count_with], which `CountTrust` checks.
    "count.what": Rule("what is counted"),
    "count.votes": Rule("how the same epsilon is shared out"),
    "count.epsilon": Rule("what a document spends; the ledger bounds all counts together"),
    "count.drop": Rule("must be the peer's own"),
    "count.collude": Rule("must be the peer's own"),
    "count.documents_per_user": Rule("what a user is promised; doubles a document's epsilon"),
    "count.declared": Rule("words that documents chose tell of those documents"),
}


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
    if _plain(new) == _plain(old):
        return ""
    # The names are those of whoever proposes.
    return plain_text(f"{field.rpartition('.')[2]} {_show_change(old, new)}", _LONGEST)


def _plain(value: Any) -> Any:  # noqa: ANN401 - of a field
    if not hasattr(value, "entries"):
        return value
    return value.width, value.entries.tobytes(), value.weights.tobytes()


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
        _, entries, weights = _plain(value)
        digest = digest_of(entries + weights)
        return f"a map of {len(value.entries)} entries with the SHA-256 {digest}"
    return value.hex() if isinstance(value, bytes) else str(value)
