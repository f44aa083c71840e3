"""A coordinator that tells peers different things would read one of them off the sums.

Peers used to compare a digest of the terms with the coordinator's only, and nobody signed it: it
said to each the digest that this one had. Trainings of two dictionaries then ran to their end, and
single documents stood in the sums. Here it says to each peer the very statement that this one made,
forges others', leaves them out, or tells dictionaries, labels and kept features apart.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.changed_parties import Change as Lie
from support.changed_parties import told_to
from support.hidden_systems import small_keys_allowed
from support.lying_coordinator import lenient
from support.text_runs import (
    AGREED,
    GIVEN,
    HASHED,
    LABELS,
    NAMES,
    WORDS,
    made_holdings,
    made_peers,
    made_terms,
    trained,
    watched,
)

from sottovoce.errors import AbortedError, DisagreementError
from sottovoce.learn.documents import held_out
from sottovoce.learn.features import FeatureMap, TextRecipe
from sottovoce.learn.modes.sums import Alike
from sottovoce.learn.run.agree import Agreed, opening
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.sums.fixed import Ring
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.exchange import Exchange

Results = Mapping[str, Mapping[str, Value]]
TOLD_TERMS = "must have the same terms in this run"
WORDS_GIVEN: dict[str, Any] = {"text": GIVEN, "labels": LABELS[:2]}


@pytest.fixture(autouse=True)
def a_coordinator_that_compares_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It knows that it lies, and goes on: whoever was lied to has to find out."""
    monkeypatch.setattr(Alike, "_check_statement", lenient(Alike._check_statement))


def run_with(
    lie: Lie | None,
    terms: RunTerms,
    told: Mapping[str, RunTerms] | None = None,
    earlier: Results | None = None,
) -> Exchange:
    """All messages of a run whose coordinator lies; ``told`` others to some of its parties."""
    return watched(terms, made_holdings(made_peers(), earlier), lie, told)


def forged_statements(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Lie:
    """The statements of the terms that ben is shown, and everybody else as they are."""
    return told_to("ben", "statements", "statements", lambda given: change(dict(given)))


WAYS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "masks": ("train", "open", {}),
    "hidden": ("train", "hidden", {}),
    "rados": ("rados", "open", {}),
}
HELPED = [("hidden", "key holder"), ("rados", "key holder"), ("rados", "intermediary")]


@pytest.mark.parametrize(("way", "who"), [*((way, "cy") for way in WAYS), *HELPED])
def test_terms_told_apart_end_before_anything_else_is_said(way: str, who: str) -> None:
    kind, mode, options = WAYS[way]
    with small_keys_allowed():
        terms = made_terms(
            kind, mode, recipe={"penalty": 0.1, "key_bits": 512, **options}, **WORDS_GIVEN
        )
        other = replace(terms, text=replace(GIVEN, words=GIVEN.words[:-1]))
        with pytest.raises(DisagreementError, match=TOLD_TERMS):
            run_with(None, terms, {who: other})


OTHER_TERMS: dict[str, Callable[[RunTerms], RunTerms]] = {
    "a word": lambda t: replace(t, text=replace(GIVEN, words=("zz", *GIVEN.words[1:]))),
    "the words' order": lambda t: replace(t, text=replace(GIVEN, words=GIVEN.words[::-1])),
    "a label": lambda t: replace(t, labels=("ham", "jam")),
    "a weight of the map": lambda t: replace(t, text=mapped(2.0)),
    "a column of the map": lambda t: replace(t, text=mapped(1.0, 1)),
    "the penalty": lambda t: replace(t, recipe=replace(t.recipe, penalty=0.2)),
    "an identity": lambda t: replace(t, identities={**t.identities, "dee": bytes(32)}),
    "the session": lambda t: replace(t, session=bytes(16)),
}


def mapped(weight: float, first: int = 0) -> TextRecipe:
    """Words joined two by two; the first one's column and weight as given."""
    entries = np.array([[at, at // 2] for at in range(60)])
    entries[0, 1] = first
    weights = np.array([weight, *np.ones(59)])
    return TextRecipe(
        dictionary="mapped", words=WORDS, mapping=FeatureMap(entries, weights, 30), width=30
    )


@pytest.mark.parametrize("what", OTHER_TERMS)
def test_every_part_of_the_terms_is_in_what_is_signed(what: str) -> None:
    terms = made_terms(text=mapped(1.0) if "map" in what else GIVEN, labels=LABELS[:2])
    assert opening(terms).digest != opening(OTHER_TERMS[what](terms)).digest


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda all_: {k: v for k, v in all_.items() if k != "cy"}, "one is missing"),
        (lambda all_: {**all_, "eve": all_["cy"]}, "a stranger's is among them"),
        (lambda all_: {**all_, "cy": all_["dee"]}, "cy and ben must have the same terms"),
        (
            lambda all_: {**all_, "cy": {**all_["cy"], "documents": 5}},
            "cy and ben must have the same terms",
        ),
        (
            lambda all_: {**all_, "cy": {**all_["cy"], "signature": signed_by_nobody()}},
            "cy and ben must have the same terms",
        ),
    ],
    ids=["missing", "stranger", "another peer's", "other documents", "forged"],
)
def test_statements_that_are_not_one_of_each_peer_are_refused(
    change: Callable[[dict[str, Any]], dict[str, Any]], sentence: str
) -> None:
    terms = made_terms(**WORDS_GIVEN)
    with pytest.raises(DisagreementError, match=sentence):
        run_with(forged_statements(change), terms)


def signed_by_nobody() -> bytes:
    return Identity().sign("statement", b"")


@pytest.mark.parametrize("entry", [b"", {"documents": -1, "signature": b""}, {"documents": 1}])
def test_an_entry_that_is_no_statement_is_refused(entry: object) -> None:
    with pytest.raises(AbortedError, match="a statement must be a number and a signature"):
        run_with(forged_statements(lambda all_: {**all_, "cy": entry}), made_terms())


def _odd(total: Ring) -> np.uint64:
    """Of means, which have an odd number of values; counts of uses have not."""
    return np.uint64((1 << 30) * (total.size % 2))


LIES: dict[str, tuple[str, str, Callable[[Any], Any], str]] = {
    "dictionary": ("dictionary", "buckets", lambda b: b[b != b[3]], "columns and labels"),
    "labels": ("classes", "labels", lambda names: (*names, "zebra"), "columns and labels"),
    "kept": ("kept", "kept", lambda kept: kept ^ (np.arange(kept.size) == 3), "kept features"),
    "moments": ("sum", "vector", lambda total: total + _odd(total), "moments"),
}


@pytest.mark.parametrize("way", ["masks", "hidden"])
@pytest.mark.parametrize("what", LIES)
def test_what_is_told_later_is_compared_before_sums_rest_on_it(what: str, way: str) -> None:
    """With another list of kept features, ben's numbers of a word stood beside another's."""
    kind, field, change, named = LIES[what]
    recipe: dict[str, Any] = {"penalty": 0.1, "key_bits": 512, "fraction_bits": 14}
    if way == "masks":
        recipe["statistics"] = "rados"
    text = AGREED if what == "dictionary" else HASHED
    with small_keys_allowed():
        terms = made_terms("train", WAYS[way][1], recipe=recipe, text=text)
        with pytest.raises(DisagreementError, match=f"must have the same {named} in this run"):
            run_with(told_to("ben", kind, field, change), terms)


@pytest.mark.parametrize(
    ("kind", "field", "change", "named"),
    [
        ("apart", "columns", lambda left: left & (np.arange(left.size) > 0), "same opened"),
        ("sum", "vector", lambda uses: uses + np.uint64(1), "keys does not hold"),
    ],
)
def test_what_the_guard_is_told_is_the_same_at_all_peers(
    kind: str, field: str, change: Callable[[Any], Any], named: str
) -> None:
    """With other columns opened, or counts of them, ben's sums would not be the others'."""
    terms = made_terms("train", "open", recipe={"penalty": 0.1}, text=HASHED)
    with pytest.raises(DisagreementError, match=named):
        run_with(told_to("ben", kind, field, change), terms)


def test_evaluations_and_queries_are_of_the_same_terms_at_all_parties() -> None:
    training = trained(made_terms(recipe={"penalty": 0.1}, held_out=0.2), made_peers())
    session = training.results["ada"]["session"]
    given: dict[str, Any] = {"training": session, "recipe": {"penalty": 0.1}, "held_out": 0.2}
    terms = made_terms("evaluate", **given)
    with pytest.raises(DisagreementError, match="a signature for keys does not hold"):
        run_with(None, terms, {"cy": replace(terms, held_out=0.3)}, training.results)
    asked = made_terms("classify", asker="ada", contributors=("ben", "cy"), rows=40, **given)
    with pytest.raises(DisagreementError, match=TOLD_TERMS):
        run_with(None, asked, {"cy": replace(asked, contributors=("cy",))}, training.results)


def test_the_numbers_of_documents_are_known_to_every_training() -> None:
    """Those that stand in the sums: what is held out does not count."""
    terms = made_terms(held_out=0.25, recipe={"penalty": 0.1}, **WORDS_GIVEN)
    exchange = run_with(None, terms)
    heard = [each for each in exchange.views["dee"] if each.kind == "statements"]
    statements: Any = heard[0].payload["statements"]
    stated = {peer: statements[peer]["documents"] for peer in NAMES}
    secrets = {name: holding.secret for name, holding in made_holdings(made_peers()).items()}
    assert stated == {
        name: int((~held_out(peer, 0.25, secrets[name])).sum())
        for name, peer in made_peers().items()
    }
    agreed = Agreed(("one",), LABELS[:2], NAMES, stated)
    assert agreed.training(terms, NAMES[:3]).documents == {n: stated[n] for n in NAMES[:3]}
