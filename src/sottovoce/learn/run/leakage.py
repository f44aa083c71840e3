"""Who learns what from a run: the statement of its trust mode, and what comes before and after."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, assert_never

from sottovoce.learn.run.count import count_leakage
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.sums.fixed import EPSILON, PROJECTIONS
from sottovoce.learn.support import caps
from sottovoce.learn.training_terms import Mode, Recipe
from sottovoce.learn.wire import codec
from sottovoce.learn.wire.codec import Value
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
ONE_PEER = "coordinator + 1 peer"
LYING_COORDINATOR, LYING_PEER, BACKUP = "lying coordinator", "lying peer", "restored backup"
_OTHERS = (
    "the sums of the other peers, by taking off that peer's own, made-up documents too; of each "
    "kept feature they are over {k} of the others' documents at least, which alone would keep no "
    "document from being worked out"
)
_KEPT_FALSELY = "it may say that rare features are kept, which no peer can check, and then "
_READS = (
    "reads all opened words of a document off the row of one that it alone uses; or that features "
    "differ in enough documents, and then off the difference of two rows"
)
_CANNOT = (
    "it cannot open one peer's sums, choose which documents are held out, or have a peer train "
    "whose documents changed by fewer than {k}; it may say that peers are lost, but only before "
    "the first run's statistics are opened"
)
_SOLVES = (
    "it may have other ciphertexts solved than the sum, one peer's too, which the key holder "
    "cannot tell: signs of such a theta are within the same budget, and for each prime it hears "
    "whether a masked system is singular"
)
_PASSES = (
    "it may count documents that it has not, and so have any feature kept, and two that a single "
    "document tells apart: with the coordinator it then reads all opened words of that document; "
)
_LIMITED = (
    "the opened total must be one that as many documents as the peers state could have; within "
    "that, one liar who knows about what the others' sums are decides theta (in trials it moved "
    "scores up to three times as far as the worst made-up documents do); it is told no more than a "
    "curious peer"
)
_WEIGHED = (
    "made-up documents count like true ones, as many as it states; where rows are of 0 and 1, its "
    "sums weigh no more than 2.6 + (650 + 1,150 root(P - 1))/m times as much as m documents could, "
    "for one of P peers, which states m, or it is named; also, "
)
_UNCHECKED = "no sums are checked: one liar decides theta"
_SPOILS = (
    f"it may count documents that it has not, and so have any feature kept; {_UNCHECKED}; it is "
    "told no more than a curious peer"
)
_BACKUP = (
    "a run under way ends by digest where data or inputs have changed; a count outside the store "
    "shows that a store or a memory is a copy: runs under way end, a peer trains once a person has "
    "approved, a helper answers no query by an earlier training; where that count was restored "
    "too, what came after the backup is forgotten"
)


def run_leakage(terms: RunTerms) -> Leakage:
    """The table of a run."""
    match terms.kind:
        case "classify":
            return _query(terms)
        case "evaluate":
            return _evaluation(terms)
        case "count":
            return count_leakage(terms)
        case "train":
            inner = mode_leakage(terms.mode, terms.recipe)
        case "rados":
            inner = _add_statement(_rados(terms.recipe))
        case _:
            assert_never(terms.kind)
    return add_two_peers(len(terms.peers), _add_agreement(terms, inner))


def _add_agreement(terms: RunTerms, inner: Leakage) -> Leakage:
    """What is said of words and labels before the training."""
    coordinator, peer, helper = list[str](), list[str](), list[str]()
    collusion, assumes, text = inner.collusion, inner.assumes, terms.text
    if text is not None and text.dictionary == "agreed":
        coordinator.append(_BUCKETS.format(text.buckets, "" if text.padded else _TOTAL))
        peer.append(_TRIED.format(terms.recipe.fewest_peers))
        helper.append("the numbers of the chosen buckets")
        assumes = assumes.replace("the features' names", "the number of features")
        collusion += (
            "; the coordinator and one peer together can try words: how many peers nominated each, "
            "and so who did where it was all or none of the others"
        )
    elif text is not None and text.needs_key:
        collusion += "; the coordinator and one peer together can try which words a column is of"
    if not terms.labels:
        coordinator.append("which label names each peer has")
        peer.append("all label names")
        helper.append("all label names")
    # Peers that declare every feature say nothing by it.
    silent = _HOLDINGS if text is not None and text.declared == "all" else ""
    before = {"coordinator": coordinator, "every peer": peer}
    before |= dict.fromkeys(("key holder", "intermediary"), helper)
    rows = tuple(
        Learns(row.who, "; ".join([*before.get(row.who, []), row.what.removeprefix(silent)]))
        for row in inner.learns
    )
    return replace(inner, learns=rows, collusion=collusion, assumes=assumes)


def _query(terms: RunTerms) -> Leakage:
    asks = f"that {terms.asker} asks for {terms.rows} rows"
    match terms.mode:
        case "open" if not terms.contributors:
            own = (Learns(terms.asker, "the labels of its rows, by itself"),)
            return Leakage("classification, open mode", own, "nobody else takes part", _RUN_ASSUMES)
        case "open":
            return _summed_query(terms, asks)
        case "hidden":
            return _hidden_query(terms, asks)
        case _:
            assert_never(terms.mode)


def _hidden_query(terms: RunTerms, asks: str) -> Leakage:
    told = "; which features are its own to add" if terms.contributors else ""
    asker = Learns(terms.asker, f"the label of each of its rows, and no score{told}")
    helping = [Learns(name, asks) for name in ("coordinator", "key holder", *terms.contributors)]
    together = (
        "the coordinator and one peer together learn what each does; the coordinator and the key "
        "holder together learn every row's score and theta"
    )
    return Leakage("classification, hidden mode", (*helping, asker), together, _RUN_ASSUMES)


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
    support = "the other peers' support, by taking off that peer's own"
    lies = f"{_KEPT_FALSELY}they stand in the rados that the key holder opens; {_CANNOT}"
    against = _against(recipe, support, lies, _SPOILS)
    return Leakage("rados by a blind intermediary", rows, collusion, _RUN_ASSUMES, against)


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


class _Statistics(NamedTuple):
    """What a training on these statistics says beside the others."""

    aggregate: str
    moments: str
    weights: str
    lies: str


def _statistics(recipe: Recipe) -> _Statistics:
    match recipe.statistics:
        case "exact":
            return _Statistics(
                "the sum over all peers of x, y, xy and xx'",
                "",
                f", but where rows are of 0 and 1 {PROJECTIONS} noisy projections of each peer's, "
                "which say how large they are, and who has which document up to a factor of "
                f"e^{EPSILON}",
                _WEIGHED + _LIMITED,
            )
        case "rados":
            return _Statistics(
                "the sum over all peers of their rados and of the rados' outer products",
                "; each feature's mean and variance",
                "",
                f"{_UNCHECKED}; it is told no more than a curious peer",
            )
        case _:
            assert_never(recipe.statistics)


def _open_leakage(recipe: Recipe) -> Leakage:
    of = _statistics(recipe)
    aggregate = f"{of.aggregate}, {_NO_DOCUMENT}"
    sums = f"{_support(recipe)}; of each label likewise how many documents have it and lack it"
    learns = (
        Learns(
            "coordinator",
            f"which peers have which features; {sums}; {_GUARDED}{of.moments}; {_ALIKE}; "
            f"{aggregate}; theta; no peer's own sums{of.weights}; of rows whose parts several "
            "peers hold, each row's score",
        ),
        Learns(
            "every peer",
            f"{_KEPT}; {_GUARDED}{of.moments}; theta, with which it classifies by itself; of rows "
            "whose parts it and other peers hold, each row's score",
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
        _open_adversaries(recipe),
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
        _hidden_adversaries(recipe),
    )


def _allowed_rows(recipe: Recipe) -> str:
    together = recipe.queries_together or recipe.queries
    joint = "half as many as there are features" if together is None else str(together)
    if recipe.queries is None:
        return f"its part of the rows that all peers may ask for together, {joint}"
    return f"at most {recipe.queries} rows that it asks for, {joint} over all peers together"


def _support(recipe: Recipe) -> str:
    """What the sum of the peers' `local_support` says, from which it is decided what is kept."""
    *fewer, most = map(str, caps(recipe.fewest_documents))
    return _SUPPORT.format(caps=f"{', '.join(fewer)} or {most}" if fewer else most)


def _open_adversaries(recipe: Recipe) -> tuple[Learns, ...]:
    lies, passes = f"{_KEPT_FALSELY}{_READS}; {_CANNOT}", _PASSES + _statistics(recipe).lies
    return _against(recipe, _OTHERS, lies, passes)


def _hidden_adversaries(recipe: Recipe) -> tuple[Learns, ...]:
    joint = (
        "the other peers' part of each feature's mean and variance; the signs that the peer may "
        "ask for, and no others: training again on the same data gives no new ones"
    )
    lies = f"{_KEPT_FALSELY}learns their means and variances, and no product; {_SOLVES}; {_CANNOT}"
    passes = (
        "it may count documents that it has not, and so have any feature kept, of which means and "
        f"variances are told; {_UNCHECKED}; it learns no more signs than its budget"
    )
    return _against(recipe, joint, lies, passes)


def _against(recipe: Recipe, joint: str, lies: str, passes: str) -> tuple[Learns, ...]:
    least = recipe.fewest_documents
    return (
        Learns(ONE_PEER, joint.format(k=least)),
        Learns(LYING_COORDINATOR, lies.format(k=least)),
        Learns(LYING_PEER, passes),
        Learns(BACKUP, _BACKUP),
    )


def opened_words(record: Mapping[str, Value]) -> str:
    """Of how many features the sums were opened, and why not of all; empty where none were."""
    numbers = codec.item(record, "opened", tuple) if "opened" in record else ()
    if not numbers:
        return ""
    kept, allowed, supported = (n for n in numbers if isinstance(n, int))
    found = f"sums of {kept} of {supported} features that enough documents use"
    if allowed != supported:
        found += (
            f"; of more than {allowed} they would hold too much of so few documents; the hidden "
            "mode and learn count have no such limit"
        )
    if kept != allowed:
        found += f"; of {allowed}, some differ from others in a few documents only"
    return found
