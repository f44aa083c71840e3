"""Who learns what from a run: the statement of its trust mode, and what comes before and after."""

from dataclasses import replace
from typing import assert_never

from sottovoce.learn.run.adversaries import adversaries, rado_adversaries
from sottovoce.learn.run.count import count_leakage
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.sums.fixed import EPSILON, PROJECTIONS
from sottovoce.learn.support import caps
from sottovoce.learn.training_terms import Mode, Recipe
from sottovoce.learn.wire.message import Leakage, Learns

_BUCKETS = (
    "how many peers nominated a word of each of {} buckets, whose words it cannot work out without "
    "the peers' key, but may guess by sums like those of well-known words{}"
)
_TOTAL = "; how many words all peers nominated together"
_TRIED = (
    "the buckets that at least {} peers nominated, itself perhaps among them, and so, by trying "
    "words under the common key, the dictionary's words"
)
_STATED = "how many documents each peer gives, which it signs"
_HOLDINGS = "which peers have which features; "
_SUPPORT = (
    "of each feature how many documents use it and how many lack it, of a peer no more than {caps} "
    "are counted; how many peers have it dropped, as too few changed documents use it"
)
_KEPT = "which features are kept"
_NO_DOCUMENT = (
    "from which our own attacks read no long document (not a proof), and which tell whether a "
    "known text was there, more often right than not"
)
_CLEAR = "sums of its documents, which no rule keeps from telling single ones"
_GUARDED = (
    "of each kept feature and label how many documents of all peers use it; which features are "
    "opened, the most used ones, as many as all parties' limits allow"
)
_ALIKE = (
    "how many features each party's limit allows; which pairs of features and labels differ (or do "
    "not add up to one) in a few documents only, and of pairs that one peer alone has enough such "
    "documents of, which peer"
)
_OF_TWO = (
    "as there are only two peers, the other's part of every sum that it is told, by taking off its "
    "own"
)
_RUN_ASSUMES = "honest but curious parties, authenticated private channels"
_MODE_ASSUMES = f"{_RUN_ASSUMES}; the features' names and the recipe are public"


def run_leakage(terms: RunTerms) -> Leakage:
    """The table of a run."""
    if terms.kind == "classify":
        return _query(terms)
    if terms.kind == "evaluate":
        return _evaluation(terms)
    if terms.count is not None:
        return count_leakage(terms.count, len(terms.peers))
    inner = _add_statement(_rados(terms.recipe)) if terms.kind == "rados" else _training(terms)
    before = {
        "coordinator": [*_dictionary(terms), *_labels(terms, told=False)],
        "every peer": [*_columns(terms), *_labels(terms, told=True)],
        "key holder": [*_helper_columns(terms), *_labels(terms, told=True)],
        "intermediary": [*_helper_columns(terms), *_labels(terms, told=True)],
    }
    rows = tuple(
        Learns(row.who, "; ".join([*before.get(row.who, []), _drop_silent(terms, row.what)]))
        for row in inner.learns
    )
    told = replace(
        inner,
        learns=rows,
        collusion=_collusion(terms, inner.collusion),
        assumes=_assumes(terms, inner),
    )
    return add_two_peers(len(terms.peers), told)


def _training(terms: RunTerms) -> Leakage:
    return mode_leakage(terms.mode, terms.recipe)


def _query(terms: RunTerms) -> Leakage:
    if terms.mode == "open" and not terms.contributors:
        alone = (Learns(terms.asker, "the labels of its rows, by itself"),)
        return Leakage("classification, open mode", alone, "nobody else takes part", _RUN_ASSUMES)
    asks = f"that {terms.asker} asks for {terms.rows} rows"
    if terms.mode == "open":
        return _summed_query(terms, asks)
    told = "; which features are its own to add" if terms.contributors else ""
    asker = Learns(terms.asker, f"the label of each of its rows, and no score{told}")
    helping = [Learns(name, asks) for name in ("coordinator", "key holder", *terms.contributors)]
    rows = (*helping, asker)
    together = (
        "the coordinator and one peer together learn what each does; the coordinator and the key "
        "holder together learn every row's score and theta"
    )
    return Leakage("classification, hidden mode", rows, together, _RUN_ASSUMES)


def _summed_query(terms: RunTerms, asks: str) -> Leakage:
    score = "each row's score, the sum of all contributors' parts"
    others = [
        Learns(name, f"{asks}; which features are its own to add; {score}")
        for name in terms.contributors
    ]
    rows = (Learns("coordinator", f"{asks}; {score}"), Learns(terms.asker, score), *others)
    together = (
        "the coordinator and one contributor together learn the sum of the others' parts, two "
        "thirds of the contributors each one's part; of two, each learns the other's"
    )
    return Leakage("classification with others' parts, open mode", rows, together, _RUN_ASSUMES)


def _evaluation(terms: RunTerms) -> Leakage:
    counts = "how many held-out rows of each label were called what, over all peers"
    told = [Learns("coordinator", counts), Learns("every peer", counts)]
    if terms.mode == "hidden":
        told.insert(1, Learns("key holder", f"that each peer asks for {terms.rows} rows"))
    collusion = (
        "the coordinator and one peer together learn the sum of the others' counts, as that peer "
        "does; the coordinator and two thirds of the peers every peer's counts; all peers but one "
        "learn the last one's"
    )
    return Leakage(f"evaluation, {terms.mode} mode", tuple(told), collusion, _RUN_ASSUMES)


def _rados(recipe: Recipe) -> Leakage:
    rows = (
        Learns("coordinator", _support(recipe)),
        Learns("intermediary", "how many features are kept; ciphertexts"),
        Learns("key holder", f"each peer's clear rados, {_CLEAR}; theta"),
        Learns("every peer", f"{_KEPT}; theta, with which it classifies by itself"),
    )
    collusion = (
        "the coordinator and one peer together learn the others' support; the intermediary and the "
        "key holder together hold signatures and clear rados and "
        "reconstruct every peer's documents: keep them apart"
    )
    return Leakage(
        "rados by a blind intermediary", rows, collusion, _RUN_ASSUMES, rado_adversaries(recipe)
    )


def _drop_silent(terms: RunTerms, what: str) -> str:
    """Peers that declare every feature say nothing by it."""
    silent = terms.text is not None and terms.text.declared == "all"
    return what.removeprefix(_HOLDINGS) if silent else what


def _is_agreed(terms: RunTerms) -> bool:
    return terms.text is not None and terms.text.dictionary == "agreed"


def _dictionary(terms: RunTerms) -> list[str]:
    if terms.text is None or not _is_agreed(terms):
        return []
    return [_BUCKETS.format(terms.text.buckets, "" if terms.text.padded else _TOTAL)]


def _columns(terms: RunTerms) -> list[str]:
    return [_TRIED.format(terms.recipe.fewest_peers)] if _is_agreed(terms) else []


def _helper_columns(terms: RunTerms) -> list[str]:
    return ["the numbers of the chosen buckets"] if _is_agreed(terms) else []


def _labels(terms: RunTerms, *, told: bool) -> list[str]:
    if terms.labels:
        return []
    return ["all label names" if told else "which label names each peer has"]


def _collusion(terms: RunTerms, inner: str) -> str:
    if terms.text is None or not terms.text.needs_key:
        return inner
    if not _is_agreed(terms):
        return f"{inner}; the coordinator and one peer together can try which words a column is of"
    return (
        f"{inner}; the coordinator and one peer together can try words: how many peers nominated "
        "each, and so who did where it was all or none of the others"
    )


def _assumes(terms: RunTerms, inner: Leakage) -> str:
    if not _is_agreed(terms):
        return inner.assumes
    return inner.assumes.replace("the features' names", "the number of features")


def mode_leakage(mode: Mode, recipe: Recipe) -> Leakage:
    """Who learns what from a training in this mode, and from classifying afterwards."""
    match mode:
        case "open":
            return _add_statement(_open_leakage(recipe))
        case "hidden":
            return _add_statement(_hidden_leakage(recipe))
        case _:
            assert_never(mode)


def _add_statement(leakage: Leakage) -> Leakage:
    rows = (replace(row, what=f"{row.what}; {_STATED}") for row in leakage.learns)
    return replace(leakage, learns=tuple(rows))


def add_two_peers(peers: int, leakage: Leakage) -> Leakage:
    """The statement for so many peers: of two, each has the other's part of what it is told."""
    if peers > 2:  # noqa: PLR2004 - two
        return leakage
    rows = tuple(
        replace(row, what=f"{row.what}; {_OF_TWO}") if row.who == "every peer" else row
        for row in leakage.learns
    )
    return replace(leakage, learns=rows)


def _open_leakage(recipe: Recipe) -> Leakage:
    aggregate = f"{_aggregate(recipe)}, {_NO_DOCUMENT}"
    learns = (
        Learns(
            "coordinator",
            f"which peers have which features; {_sums_told(recipe)}; {_ALIKE}; {aggregate}; "
            f"theta; no peer's own sums{_weight_words(recipe)}; of rows whose parts several peers "
            "hold, each row's score",
        ),
        Learns(
            "every peer",
            f"{_peers_told(recipe)}; theta, with which it classifies by itself; of rows whose "
            "parts it and other peers hold, each row's score",
        ),
    )
    collusion = (
        "the coordinator and one peer together learn the sum of the other peers' sums; the "
        "coordinator and two thirds of the peers every peer's; all peers but one, with the "
        "coordinator, the last one's"
    )
    return Leakage(
        f"open mode, {recipe.statistics} statistics",
        learns,
        collusion,
        _MODE_ASSUMES,
        adversaries("open", recipe),
    )


def _hidden_leakage(recipe: Recipe) -> Leakage:
    marginals = "each feature's mean and variance"
    learns = [
        Learns(
            "coordinator",
            f"which peers have which features; {_support(recipe)}; {marginals}; ciphertexts and a "
            "uniform share of theta; who asks, and for how many rows; whether a peer's data are "
            "those of an earlier training",
        ),
        Learns(
            "key holder",
            "how many features are kept; uniform numbers and a uniform share of theta; who asks, "
            "and for how many rows; whether a peer's data are those of an earlier training",
        ),
        Learns(
            "every peer",
            f"{_KEPT}; {marginals}; ciphertexts of theta; the signs of "
            f"{_allowed_rows(recipe)}; as many well-chosen signs as features give theta's "
            "direction to a cosine of about 0.8",
        ),
    ]
    collusion = (
        "the coordinator and one peer together learn the other peers' means and variances; the "
        "coordinator and the key holder A, b and theta: keep them apart"
    )
    return Leakage(
        f"hidden mode, {recipe.solver} solve",
        tuple(learns),
        collusion,
        _MODE_ASSUMES,
        adversaries("hidden", recipe),
    )


def _allowed_rows(recipe: Recipe) -> str:
    together = recipe.queries_together or recipe.queries
    joint = "half as many as there are features" if together is None else str(together)
    if recipe.queries is None:
        return f"its part of the rows that all peers may ask for together, {joint}"
    return f"at most {recipe.queries} rows that it asks for, {joint} over all peers together"


def _sums_told(recipe: Recipe) -> str:
    told = f"{_support(recipe)}; of each label likewise how many documents have it and lack it"
    return _add_moments(f"{told}; {_GUARDED}", recipe)


def _peers_told(recipe: Recipe) -> str:
    return _add_moments(f"{_KEPT}; {_GUARDED}", recipe)


def _add_moments(told: str, recipe: Recipe) -> str:
    match recipe.statistics:
        case "exact":
            return told
        case "rados":
            return f"{told}; each feature's mean and variance"
        case _:
            assert_never(recipe.statistics)


def _support(recipe: Recipe) -> str:
    """What the sum of the peers' `local_support` says, from which it is decided what is kept."""
    *fewer, most = (str(cap) for cap in caps(recipe.fewest_documents))
    shown = f"{', '.join(fewer)} or {most}" if fewer else most
    return _SUPPORT.format(caps=shown)


def _weight_words(recipe: Recipe) -> str:
    match recipe.statistics:
        case "rados":
            return ""
        case "exact":
            return (
                f", but where rows are of 0 and 1 {PROJECTIONS} noisy projections of each peer's, "
                "which say how large they are, and who has which document up to a factor of "
                f"e^{EPSILON}"
            )
        case _:
            assert_never(recipe.statistics)


def _aggregate(recipe: Recipe) -> str:
    match recipe.statistics:
        case "rados":
            return "the sum over all peers of their rados and of the rados' outer products"
        case "exact":
            return "the sum over all peers of x, y, xy and xx'"
        case _:
            assert_never(recipe.statistics)
