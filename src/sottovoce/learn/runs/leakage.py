"""Who learns what from a whole run: the training's statement, and what comes before it."""

from sottovoce.learn.party import Leakage, Learns
from sottovoce.learn.protocols.modes import mode_leakage
from sottovoce.learn.runs.terms import RunTerms

_BUCKETS = (
    "how many peers nominated a word of each of {} buckets, whose words it cannot work out without "
    "the peers' key"
)


_TRIED = (
    "the buckets that at least {} peers nominated a word of, and so, by trying words under the "
    "common key, which words are in the dictionary; not who nominated them"
)
_HOLDINGS = "which peers have which features; "


def run_leakage(terms: RunTerms) -> Leakage:
    """The table of a run."""
    inner = mode_leakage(terms.mode, terms.recipe)
    before = {
        "coordinator": [*_dictionary(terms), *_labels(terms, told=False)],
        "every peer": [*_columns(terms), *_labels(terms, told=True)],
        "key holder": [*_helper_columns(terms), *_labels(terms, told=True)],
    }
    rows = tuple(
        Learns(row.who, "; ".join([*before.get(row.who, []), _held(terms, row.what)]))
        for row in inner.learns
    )
    return Leakage(inner.protocol, rows, _collusion(terms, inner.collusion), _assumes(terms, inner))


def _held(terms: RunTerms, what: str) -> str:
    """Peers that declare every feature say nothing by it."""
    silent = terms.text is not None and terms.text.declared == "all"
    return what.removeprefix(_HOLDINGS) if silent else what


def _dictionary(terms: RunTerms) -> list[str]:
    if terms.text is None or terms.text.dictionary != "agreed":
        return []
    return [_BUCKETS.format(terms.text.buckets)]


def _columns(terms: RunTerms) -> list[str]:
    if terms.text is None or terms.text.dictionary != "agreed":
        return []
    return [_TRIED.format(terms.recipe.fewest_peers)]


def _helper_columns(terms: RunTerms) -> list[str]:
    if terms.text is None or terms.text.dictionary != "agreed":
        return []
    return ["the numbers of the chosen buckets"]


def _labels(terms: RunTerms, *, told: bool) -> list[str]:
    if terms.labels:
        return []
    return ["all label names" if told else "which label names each peer has"]


def _collusion(terms: RunTerms, inner: str) -> str:
    if terms.text is None or not terms.text.needs_key:
        return inner
    if terms.text.dictionary != "agreed":
        return f"{inner}; the coordinator and one peer together can try which words a column is of"
    return (
        f"{inner}; the coordinator and one peer together can try words: how many peers nominated "
        "each, not who did"
    )


def _assumes(terms: RunTerms, inner: Leakage) -> str:
    if terms.text is None or terms.text.dictionary != "agreed":
        return inner.assumes
    return inner.assumes.replace("the features' names", "the number of features")
