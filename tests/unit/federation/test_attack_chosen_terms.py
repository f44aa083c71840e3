"""An attack: the coordinator chooses terms until what they open tells a document or a peer apart.

It proposes a training with everybody and one without a peer, or with another share of documents
held out, and subtracts what was opened. Every field of the terms has a rule at the party that bears
the risk, and a peer compares a training with those that it has taken part in before.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from support.text_runs import GIVEN, HASHED, NAMES, PUBLIC, WORDS, made_terms

from sottovoce.errors import ParameterError
from sottovoce.federation.config import Accepts
from sottovoce.federation.party._policy import RULES, TermsMemory, check_policy, terms_id
from sottovoce.federation.party.approvals import approve, is_approved, waiting
from sottovoce.federation.party.history import RunHistory
from sottovoce.learn.count.recipe import CountRecipe
from sottovoce.learn.features import FeatureMap, TextRecipe
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.training_terms import ALLOW_RARE, Recipe
from sottovoce.learn.wire.message import new_session

ACCEPTS = Accepts(["open", "hidden"])
OPEN = made_terms(text=HASHED)


def paths(kind: type, prefix: str = "") -> set[str]:
    """Every field of the terms, those of their parts by their paths."""
    hints = get_type_hints(kind)
    found: set[str] = set()
    for each in fields(kind):
        inner = {"recipe": Recipe, "text": TextRecipe}.get(each.name)
        if (each.name, kind) == ("count", RunTerms):
            inner = CountRecipe
        assert inner is None or inner in (
            hints[each.name],
            *getattr(hints[each.name], "__args__", ()),
        )
        found |= paths(inner, f"{each.name}.") if inner else {prefix + each.name}
    return found


def test_every_field_of_the_terms_has_a_rule() -> None:
    """Whoever adds a field to the terms decides here what a peer makes of it."""
    assert is_dataclass(RunTerms)
    assert set(RULES) == paths(RunTerms)
    assert all(rule.why for rule in RULES.values())


def test_an_ordinary_training_is_accepted_under_the_defaults() -> None:
    for terms in (OPEN, made_terms(), made_terms(text=GIVEN), made_terms(mode="hidden")):
        check_policy(terms, ACCEPTS, "ada")


HEAVY = FeatureMap(np.array([[0, 0], [1, 0]]), np.array([1024.0, 1.0]), 1)
BEYOND: Mapping[str, RunTerms] = {
    "modes": made_terms(mode="hidden"),
    "held_out": replace(OPEN, held_out=0.5),
    "fraction_bits": made_terms(text=HASHED, recipe={"fraction_bits": 41}),
    "moment_bits": made_terms(text=HASHED, recipe={"moment_bits": 2}),
    "rados": made_terms(text=HASHED, recipe={"rados": 100_001}),
    "key_bits": made_terms(text=HASHED, recipe={"key_bits": 1024}),
    "queries": made_terms(text=HASHED, recipe={"queries": 1001}),
    "queries_together": made_terms(text=HASHED, recipe={"queries_together": 1001}),
    "fewest_documents from 5 on, got 2": made_terms(
        text=HASHED, recipe={"fewest_documents": 2, "allow_rare": ALLOW_RARE}
    ),
    "penalty": made_terms(text=HASHED, recipe={"penalty": 1e12}),
    "weights are all 1": made_terms(
        text=TextRecipe(dictionary="mapped", words=WORDS[:2], mapping=HEAVY, width=8)
    ),
    "no scores": made_terms(
        kind="classify",
        text=HASHED,
        training=bytes(16),
        asker="ada",
        contributors=("ben", "cy"),
        rows=1,
    ),
    "width": made_terms(text=replace(HASHED, width=200, buckets=1 << 18)),
    "statistics": made_terms(text=HASHED, recipe={"statistics": "rados", "penalty": 0.1}),
    "solvers": made_terms(text=HASHED, recipe={"solver": "chebyshev"}),
    "dictionaries": made_terms(text=GIVEN),
}


@pytest.mark.parametrize("field", BEYOND)
def test_a_field_beyond_what_is_accepted_is_refused_by_name(field: str) -> None:
    narrow: Any = {
        "modes": ["open"], "most_held_out": 0.4, "most_features": 100, "statistics": ["exact"],
        "solvers": ["masked"], "dictionaries": ["hashed", "mapped"],
    }  # fmt: skip
    with pytest.raises(ParameterError, match=field):
        check_policy(BEYOND[field], Accepts(**narrow), "ada")


# What a peer remembers.


def history(*runs: RunTerms, status: str = "finished") -> list[RunHistory]:
    return [RunHistory(new_session(), terms, status, None, 0.0) for terms in runs]


def find_refusal(
    store: Path,
    terms: RunTerms,
    earlier: Iterable[RunHistory],
    said: frozenset[str] = frozenset(),
    accepts: Accepts = ACCEPTS,
) -> str:
    memory = TermsMemory(store, accepts, "ada")
    return memory.find_refusal(again(terms), earlier, lambda _: set(said)) or ""


def again(terms: RunTerms) -> RunTerms:
    return replace(terms, session=new_session())


def without(*names: str, terms: RunTerms = OPEN) -> RunTerms:
    left = {name: public for name, public in terms.identities.items() if name not in names}
    return replace(again(terms), identities=left)


CLOSE: Mapping[str, RunTerms] = {
    "without dee": without("dee"),
    "by another identity dee": replace(OPEN, identities={**PUBLIC, "dee": bytes(32)}),
    "held_out 0.0 -> 0.05": replace(OPEN, held_out=0.05),
    "width 8 -> 9": replace(OPEN, text=replace(HASHED, width=9)),
    "dictionary hashed -> agreed": replace(OPEN, text=TextRecipe(width=8)),
    "keyed False -> True": replace(OPEN, text=replace(HASHED, keyed=True)),
    "buckets 262144 -> 1024": replace(OPEN, text=replace(HASHED, buckets=1024, candidates=500)),
    "queries None -> 900": replace(OPEN, recipe=replace(OPEN.recipe, queries=900)),
    "queries_together None -> 900": replace(
        OPEN, recipe=replace(OPEN.recipe, queries_together=900)
    ),
    "stop_words 0 -> 1 entries, 1 more and 0 fewer": replace(
        OPEN, text=replace(HASHED, stop_words=("the",))
    ),
}


@pytest.mark.parametrize("difference", CLOSE)
def test_a_training_that_differs_only_a_little_waits_for_a_person(
    difference: str, tmp_path: Path
) -> None:
    """Before, ada took part in both, and the difference of their sums was somebody's own."""
    terms = CLOSE[difference]
    refused = find_refusal(tmp_path, terms, history(OPEN))
    assert difference in refused
    assert f"learn approve {terms_id(terms)}" in refused
    assert difference in "; ".join(waiting(tmp_path)[terms_id(terms)])


def test_the_first_training_and_the_very_same_again_are_taken_part_in(tmp_path: Path) -> None:
    assert not find_refusal(tmp_path, OPEN, [])
    assert not find_refusal(tmp_path, OPEN, history(OPEN))
    other = replace(OPEN, recipe=replace(OPEN.recipe, penalty=0.3))
    assert not find_refusal(tmp_path, other, history(OPEN))
    assert waiting(tmp_path) == {}


def test_groups_that_leave_one_peer_over_are_not_taken_part_in_unasked(tmp_path: Path) -> None:
    """All seven, three of them and another three: what is left of the sums is the seventh's own.

    Before, trainings that differed by three peers or more were not compared, and nobody asked.
    """
    seven = {**PUBLIC, **{f"peer{at}": bytes([at]) * 32 for at in range(3)}}
    names = sorted(seven)
    groups = [dict(seven), {n: seven[n] for n in names[:3]}, {n: seven[n] for n in names[3:6]}]
    everybody, *few = (replace(OPEN, identities=each) for each in groups)
    assert set(groups[0]) - set(groups[1]) - set(groups[2]) == {names[6]}
    for terms in few:
        assert find_refusal(tmp_path, terms, history(everybody))
        assert find_refusal(tmp_path, everybody, history(terms))


def test_a_run_is_compared_by_those_who_were_left_in_it(tmp_path: Path) -> None:
    """Dee was lost on the way, or so the coordinator said; now it is there again."""
    among = {OPEN.session: ((*NAMES[:-1],),)}
    memory = TermsMemory(tmp_path, ACCEPTS, "ada", among=lambda session: among.get(session, ()))
    refused = str(memory.find_refusal(again(OPEN), history(OPEN), lambda _: set()))
    assert "with dee" in refused
    assert memory.find_refusal(without("dee"), history(OPEN), lambda _: set()) is None


def test_what_differs_is_shown_without_control_characters(tmp_path: Path) -> None:
    """The words are the coordinator's, and the terminal is the peer's."""
    loud = replace(OPEN, text=replace(HASHED, stop_words=("\x1b[31mred",)))
    refused = find_refusal(tmp_path, loud, history(OPEN))
    assert refused.isprintable()
    assert all(each.isprintable() for found in waiting(tmp_path).values() for each in found)


def test_the_very_same_as_any_earlier_one_is_taken_part_in(tmp_path: Path) -> None:
    """It opens what was opened then, and no more; what somebody approved in between stays so."""
    between = CLOSE["held_out 0.0 -> 0.05"]
    assert not find_refusal(tmp_path, OPEN, history(OPEN, between))
    assert find_refusal(tmp_path, OPEN, history(between))


def test_what_somebody_approves_is_taken_part_in_and_nothing_else(tmp_path: Path) -> None:
    close, closer = CLOSE["without dee"], CLOSE["width 8 -> 9"]
    for terms in (close, closer):
        assert find_refusal(tmp_path, terms, history(OPEN))
    name = approve(tmp_path, terms_id(close))
    assert is_approved(tmp_path, name)
    assert not find_refusal(tmp_path, close, history(OPEN))
    assert find_refusal(tmp_path, closer, history(OPEN))
    assert list(waiting(tmp_path)) == [terms_id(closer)]
    assert (tmp_path / "approved.json").stat().st_mode & 0o777 == 0o600


def test_every_field_that_differs_is_shown_and_no_word_of_a_list(tmp_path: Path) -> None:
    """Fields that tell nothing apart are shown too, beside the last run's."""
    last = made_terms(text=replace(GIVEN, words=WORDS[:50]), recipe={"penalty": 0.5})
    terms = made_terms(
        text=GIVEN, recipe={"penalty": 0.1}, held_out=0.1, labels=("ham", "spam"), most_classes=3
    )
    assert find_refusal(tmp_path, terms, history(OPEN, last))
    (shown,) = waiting(tmp_path).values()
    listed = hashlib.sha256("".join(f"{word}\n" for word in WORDS).encode()).hexdigest()
    entries = "words 50 -> 60 entries, 10 more and 0 fewer, now with the SHA-256 " + listed
    assert {entries, "held_out 0.0 -> 0.1"} <= set(shown)
    for field in ("penalty 0.5 -> 0.1", "most_classes 16 -> 3", "labels 0 -> 2 entries"):
        assert any(each.startswith(f"since the last run {field}") for each in shown), shown
    assert not any(word in " ".join(shown) for word in (*WORDS, "spam"))


def test_a_run_that_ended_before_anything_was_given_is_not_compared(tmp_path: Path) -> None:
    broken = history(OPEN, status="aborted")
    close = without("dee")
    assert not find_refusal(tmp_path, close, broken, frozenset({"terms", "keys"}))
    assert find_refusal(tmp_path, close, broken, frozenset({"terms", "masked"}))


def test_to_begin_again_without_the_lost_is_the_peers_own_decision(tmp_path: Path) -> None:
    broken, gave = history(OPEN, status="aborted"), frozenset({"masked"})
    willing = Accepts(["open"], without_lost=True)
    assert not find_refusal(tmp_path, without("dee"), broken, gave, willing)
    assert find_refusal(tmp_path, without("dee"), history(OPEN), gave, willing)
    both = replace(without("dee"), held_out=0.1)
    assert find_refusal(tmp_path, both, broken, gave, willing)


def test_a_peer_that_was_restored_from_a_copy_asks_a_person_first(tmp_path: Path) -> None:
    """It no longer knows which trainings to compare with."""
    memory = TermsMemory(tmp_path, ACCEPTS, "ada", restored=1_700_000_000)
    refused = str(memory.find_refusal(again(OPEN), [], lambda _: set()))
    assert "what it took part in since is not known" in refused
    approve(tmp_path, "restored-1700000000")
    assert memory.find_refusal(again(OPEN), [], lambda _: set()) is None


def test_the_number_of_trainings_is_bounded(tmp_path: Path) -> None:
    few = Accepts(["open"], most_trainings=2)
    assert not find_refusal(tmp_path, OPEN, history(OPEN), accepts=few)
    refused = find_refusal(tmp_path, OPEN, history(OPEN, OPEN), accepts=few)
    assert "at most 2 trainings" in refused


def test_evaluations_of_one_training_are_among_the_same_peers_on_as_many_rows(
    tmp_path: Path,
) -> None:
    first = made_terms(kind="evaluate", text=HASHED, training=bytes(16))
    assert not find_refusal(tmp_path, first, history(first))
    one_more = replace(first, rows=1)
    assert "rows 0 -> 1" in find_refusal(tmp_path, one_more, history(first))
    assert find_refusal(tmp_path, without(NAMES[-1], terms=first), history(first))
    of_another = replace(without(NAMES[-1], terms=first), training=bytes([1]) * 16)
    assert not find_refusal(tmp_path, of_another, history(first))
