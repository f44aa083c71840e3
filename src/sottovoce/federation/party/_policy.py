"""What a party agrees to: a rule for every field of a run's terms, with ranges from ``[accepts]``.

The coordinator chooses the terms, and the peers bear the risk. A field without a rule would be a
way round all the others; a test fails when the terms get a field that has none.

A rule also says whether two trainings, or evaluations of one, that differ in its field tell
documents or peers apart by their difference, or a classifier by a larger budget (``apart``): see
`_differences`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sottovoce.errors import ParameterError
from sottovoce.federation.config import Accepts
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
    def check(value: object, _: RunTerms, accepts: Accepts) -> str | None:
        allowed = getattr(accepts, listed)
        if value in allowed:
            return None
        known = ", ".join(allowed) or "of no run"
        return f"accepts the {listed} {known}, got {value}{_IN_FILE}"

    return check


def _mode(value: str, terms: RunTerms, accepts: Accepts) -> str | None:
    return None if terms.count is not None else _check_among("modes")(value, terms, accepts)


def _from_to(field: str, least: float, most: str) -> Check:
    def check(value: Any, _: RunTerms, accepts: Accepts) -> str | None:  # noqa: ANN401 - a number
        highest = getattr(accepts, most)
        if value is None or least <= value <= highest:
            return None
        return f"accepts {field} from {least:g} to {highest:g}, got {value:g}{_IN_FILE}"

    return check


def _at_least(field: str) -> Check:
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


def _peers(value: Any, _: RunTerms, accepts: Accepts) -> str | None:  # noqa: ANN401 - identities
    if len(value) >= FEWEST_PARTIES or accepts.two_peers:
        return None
    return (
        f"trains among at least {FEWEST_PARTIES} peers, got {len(value)}; two_peers = true in its "
        "party.toml accepts that each learns the other's sums."
    )


def _contributors(value: Any, _: RunTerms, accepts: Accepts) -> str | None:  # noqa: ANN401 - names
    if not value or accepts.contributors:
        return None
    return f"adds no scores to other peers' queries; contributors = true accepts it{_IN_FILE}"


def _penalty(value: float | None, _: RunTerms, __: Accepts) -> str | None:
    if value is None or _SMALLEST_PENALTY <= value <= _LARGEST_PENALTY:
        return None
    return f"accepts penalty from {_SMALLEST_PENALTY:g} to {_LARGEST_PENALTY:g}, got {value:g}."


def _penalties(value: Any, _: RunTerms, __: Accepts) -> str | None:  # noqa: ANN401 - numbers
    if len(value) <= _MOST_PENALTIES and all(each > 0 for each in value):
        return None
    return f"accepts at most {_MOST_PENALTIES} penalties > 0, got {len(value)}."


def _mapping(value: Any, _: RunTerms, __: Accepts) -> str | None:  # noqa: ANN401 - a map or None
    if value is None or bool((value.weights == 1).all()):
        return None
    return (
        "accepts maps whose weights are all 1, got others: with large weights a column of a common "
        "word can hide a rare one."
    )


RULES: dict[str, Rule] = {
    "session": Rule("every run has one of its own, which the journal knows"),
    "kind": Rule("each kind is looked at by its other fields"),
    "mode": Rule("who learns what; a count says it by itself", _mode),
    "identities": Rule("among whom sums are opened", _peers, apart=True),
    "recipe.statistics": Rule("what is summed", _check_among("statistics")),
    "recipe.penalty": Rule("public, and of the solve alone", _penalty),
    "recipe.penalties": Rule("public, and of the solve alone", _penalties),
    "recipe.fraction_bits": Rule(
        "how exact sums are", _from_to("fraction_bits", _FEWEST_PLACES, "most_fraction_bits")
    ),
    "recipe.moment_bits": Rule(
        "how exact moments are", _from_to("moment_bits", _FEWEST_PLACES, "most_fraction_bits")
    ),
    "recipe.rados": Rule("how many are made", _from_to("rados", 1, "most_rados")),
    "recipe.fewest_documents": Rule("who may stand out", _at_least("fewest_documents")),
    "recipe.fewest_peers": Rule("who may stand out", _at_least("fewest_peers")),
    "recipe.allow_rare": Rule("nothing without fewest_documents and fewest_peers"),
    "recipe.allow_two": Rule("nothing without fewer peers, see identities"),
    "recipe.key_bits": Rule(
        "how hard keys are", _from_to("key_bits", _FEWEST_KEY_BITS, "most_key_bits")
    ),
    "recipe.solver": Rule("how hidden sums are solved", _check_among("solvers")),
    "recipe.queries": Rule(
        "rows a peer may ask for", _from_to("queries", 1, "most_queries"), apart=True
    ),
    "recipe.queries_together": Rule(
        "rows that all may ask for", _from_to("queries_together", 1, "most_queries"), apart=True
    ),
    "text.dictionary": Rule("which words count", _check_among("dictionaries"), apart=True),
    "text.words": Rule("which words count", _check_listed("words"), apart=True),
    "text.values": Rule("what a word's number is", apart=True),
    "text.width": Rule("how many columns", _from_to("width", 1, "most_features"), apart=True),
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
    "text.mapping": Rule("which words share a column", _mapping, apart=True),
    "features": Rule("which columns count", _check_listed("features"), apart=True),
    "labels": Rule("public names; a peer whose labels are others refuses by itself"),
    "most_classes": Rule("bounded by the terms themselves"),
    "held_out": Rule(
        "which documents are in no sum", _from_to("held_out", 0, "most_held_out"), apart=True
    ),
    "training": Rule("must be one that this party took part in"),
    "asker": Rule("must be the peer that asks the coordinator"),
    "rows": Rule(
        "counted by the helpers; evaluations differ by those that one has more", apart=True
    ),
    "contributors": Rule("who adds to others' scores", _contributors),
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
