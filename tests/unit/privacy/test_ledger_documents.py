"""A ledger charges documents, wherever they stand, and knows when it is an old copy of itself."""

import hashlib
import os
import resource
import shutil
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import BudgetError, InputError, LedgerError
from sottovoce.files import state_folder
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import Account, SpendRequest
from sottovoce.privacy.ledger.documents import (
    DocumentSet,
    LedgerKey,
    find_key,
    fold_text,
    key_file,
    text_hash,
)
from sottovoce.privacy.ledger.elsewhere import SpendCount
from sottovoce.privacy.ledger.ledger import Ledger

TEXTS = tuple(f"note {i}" for i in range(100))
BUDGET = LimitedPrecision(2, 40)


def corpus_of(texts: tuple[str, ...]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def asked(
    name: str, texts: tuple[str, ...], epsilon: int = 20, *, others: bool = False
) -> SpendRequest:
    documents, cost = DocumentSet.of_texts(texts), LimitedPrecision(2, epsilon)
    return SpendRequest(name, corpus_of(texts), cost, documents=documents, others=others)


def spend(ledger: Ledger, request: SpendRequest, budget: LimitedPrecision | None = None) -> Account:
    kept = ledger.key_names(request)
    if budget is not None:
        ledger.set_budget(kept.corpus, budget, kept.documents)
    else:
        ledger.admit(kept, shared=True)
    ledger.commit(kept)
    return ledger.account(kept.corpus)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    return Ledger(path, create=True)


def spent(account: Account) -> list[tuple[int, int]]:
    """How many documents have spent what, at N = 2."""
    return sorted((group.documents, int(group.spent * 2)) for group in account.groups)


def test_documents_of_one_text_share_the_worst_case(ledger: Ledger) -> None:
    twice = ("the same", "the same", "another")
    assert DocumentSet.of_texts(twice).copies == 1
    spend(ledger, asked("a", twice), BUDGET)
    assert spent(spend(ledger, asked("b", ("the same",)))) == [(1, 40)]
    with pytest.raises(BudgetError, match="1 of these 2 documents has spent 40 of 40"):
        spend(ledger, asked("c", twice, 1))


def test_documents_without_a_stated_budget_get_that_of_those_they_come_with(ledger: Ledger) -> None:
    spend(ledger, asked("a", TEXTS, 2), BUDGET)
    account = spend(ledger, asked("b", (*TEXTS, "one more"), 2))
    assert {group.budget.epsilon for group in account.groups} == {40}
    alone = spend(ledger, asked("c", ("apart",), 2))
    assert alone.budget.epsilon == 2
    assert alone.rest == 0


def test_a_stated_budget_must_be_the_one_that_documents_have(ledger: Ledger) -> None:
    spend(ledger, asked("a", TEXTS), BUDGET)
    with pytest.raises(LedgerError, match="100 of these 101 documents already have another budget"):
        spend(ledger, asked("b", (*TEXTS, "one more")), LimitedPrecision(2, 60))
    assert len(ledger.accounts()) == 1


def test_new_documents_that_come_with_a_few_known_ones_are_not_said_to_have_spent(
    ledger: Ledger,
) -> None:
    spend(ledger, asked("a", TEXTS[:10], 2))
    more = ledger.key_names(asked("b", TEXTS, 4))
    with pytest.raises(
        BudgetError,
        match="10 of these 100 documents have spent 2 of 2 already, at N=2; 90 have spent nothing, "
        "but may spend 2 like the others",
    ) as refused:
        ledger.quote(more, shared=True)
    assert refused.value.may_be_others
    assert spent(spend(ledger, asked("b", TEXTS, 4, others=True))) == [(10, 6), (90, 4)]
    account = ledger.account(more.corpus)
    assert {group.budget.epsilon for group in account.groups if group.documents == 90} == {4}
    # Vouched for again, they are known, and no more is left to them.
    with pytest.raises(BudgetError, match="corpus has spent 6 of 2.*too many to be other"):
        spend(ledger, asked("c", TEXTS, 4, others=True))


def test_documents_that_are_mostly_known_lend_their_budget_whatever_is_vouched(
    ledger: Ledger,
) -> None:
    spend(ledger, asked("a", TEXTS[:60], 2))
    with pytest.raises(BudgetError, match="60 of these 100 documents.*too many to be other"):
        spend(ledger, asked("b", TEXTS, 4, others=True))


def test_what_was_spent_without_documents_counts_for_all_new_ones_until_they_are_named(
    ledger: Ledger,
) -> None:
    bare = replace(asked("bare", TEXTS), documents=None)
    ledger.set_budget(bare.corpus, BUDGET)
    ledger.commit(bare)
    new, budget = ledger.key_names(asked("new", ("another note",))), LimitedPrecision(2, 30)
    with pytest.raises(BudgetError, match=r"has spent 20 of 30.*Make those requests again"):
        ledger.quote(new, budget)
    named = ledger.key_names(asked("bare", TEXTS))
    assert ledger.commit(named).id == 1
    assert spent(ledger.account(named.corpus)) == [(100, 20)]
    assert ledger.quote(new, budget).spent * 2 == 20


def test_a_corpus_does_not_change_its_documents(ledger: Ledger) -> None:
    spend(ledger, asked("a", TEXTS), BUDGET)
    kept = ledger.key_names(asked("a", TEXTS))
    other = DocumentSet.of_texts(TEXTS[1:])
    with pytest.raises(LedgerError, match="has other documents"):
        ledger.commit(SpendRequest("b", kept.corpus, LimitedPrecision(2, 1), documents=other))


def test_random_sets_of_documents_are_charged_as_one_by_one(ledger: Ledger) -> None:
    """Against the plain way: a number for each text."""
    chance = np.random.default_rng(5)
    truth = dict.fromkeys(TEXTS, 0)
    for i in range(25):
        chosen = tuple(text for text in TEXTS if chance.random() < 0.4)
        kept = ledger.key_names(asked(f"r{i}", chosen, 1))
        ledger.set_budget(kept.corpus, LimitedPrecision(2, 1000), kept.documents)
        ledger.commit(kept)
        for text in chosen:
            truth[text] += 1
        account = ledger.account(kept.corpus)
        assert account.spent * 2 == max(truth[text] for text in chosen)
        groups = {
            amount: sum(n for n, each in spent(account) if each == amount)
            for _, amount in spent(account)
        }
        assert groups == {
            amount: sum(truth[text] == amount for text in chosen) for amount in set(groups)
        }


def test_the_ledger_holds_no_hash_that_a_guess_could_be_checked_by(
    ledger: Ledger, path: Path
) -> None:
    request = asked("a", TEXTS)
    spend(ledger, request, BUDGET)
    ledger.close()
    assert request.documents is not None
    content = b"".join(file.read_bytes() for file in path.parent.glob("ledger*") if file.is_file())
    for plain in (request.documents.hashes.tobytes()[:8], request.corpus.encode(), b"note 1"):
        assert plain not in content
    key = find_key(path)
    assert key is not None
    assert key.hashes(request.documents).tobytes() in content


def test_the_key_is_for_its_owner_only_and_never_printed(ledger: Ledger, path: Path) -> None:
    spend(ledger, asked("a", TEXTS), BUDGET)
    assert key_file(path).stat().st_mode & 0o777 == 0o600
    key = find_key(path)
    assert key is not None
    assert key.secret.hex() not in repr(key)
    key_file(path).chmod(0o644)
    with pytest.raises(InputError, match="open to others"):
        Ledger(path).key_names(asked("b", TEXTS))


@pytest.mark.parametrize("key", [None, b"k" * 32, b"short"])
def test_a_ledger_without_its_own_key_is_refused(
    ledger: Ledger, path: Path, key: bytes | None
) -> None:
    spend(ledger, asked("a", TEXTS), BUDGET)
    key_file(path).unlink()
    if key is not None:
        key_file(path).touch(mode=0o600)
        key_file(path).write_bytes(key)
    with pytest.raises(LedgerError, match="restore"):
        Ledger(path).key_names(asked("b", TEXTS))


def test_ledgers_hash_one_document_differently() -> None:
    documents = DocumentSet.of_texts(TEXTS)
    first, second = (LedgerKey(bytes([i]) * 32).hashes(documents) for i in (1, 2))
    assert np.intersect1d(first, second).size == 0
    assert first.size == 100


def release(ledger: Ledger, name: str) -> None:
    kept = ledger.key_names(asked(name, TEXTS, 1))
    ledger.set_budget(kept.corpus, BUDGET, kept.documents)
    ledger.release(kept, draw)


def draw(out: Path) -> None:
    out.write_bytes(os.urandom(8))


def old_copy(path: Path) -> Path:
    """A ledger with two spends, and the copy that was made after the first."""
    ledger = Ledger(path, create=True)
    release(ledger, "first")
    ledger.close()
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    ledger = Ledger(path)
    release(ledger, "second")
    ledger.close()
    return copy


def test_an_old_copy_beside_newer_outputs_is_refused(path: Path) -> None:
    copy = old_copy(path)
    shutil.rmtree(state_folder())
    copy.replace(path)
    restored = Ledger(path)
    with pytest.raises(LedgerError, match="holds 1 outputs that this ledger does not know"):
        release(restored, "third")
    with pytest.raises(LedgerError, match="older than they are"):
        restored.quote(restored.key_names(asked("third", TEXTS, 1)))
    assert len(restored.spends(restored.accounts()[0].corpus)) == 1


def test_an_old_copy_is_refused_by_the_machines_count_without_any_output(path: Path) -> None:
    copy = old_copy(path)
    copy.replace(path)
    for output in path.with_name("ledger.outputs").glob("2-*"):
        output.unlink()
    with pytest.raises(LedgerError, match="knows of 1 spends, but this machine made 2"):
        release(Ledger(path), "third")


def test_a_copy_that_is_gone_on_from_elsewhere_is_refused_here(path: Path) -> None:
    copy = old_copy(path)
    shutil.copy(key_file(path), key_file(copy))
    with pytest.raises(LedgerError, match="it is an old copy"):
        release(Ledger(copy), "third")
    release(Ledger(path), "third")


def test_the_count_never_falls(own_state: Path) -> None:
    count = SpendCount("a ledger")
    for spends in (1, 12, 3):
        count.note(spends)
    assert count.read_count() == 12
    assert (own_state / "sottovoce" / "spends" / "a ledger").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("room", [0, 5000, 20_000])
def test_a_disk_that_is_full_while_the_ledger_is_made_leaves_no_file(path: Path, room: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        with pytest.raises(LedgerError, match="cannot create the ledger"):
            Ledger(path, create=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(path.parent.iterdir()) == []
    release(Ledger(path, create=True), "first")


TEXT = "My debt: a loan of 12 from the café, naïve \u0915\u0940"


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: text.replace(" ", "  ", 1), id="one blank more"),
        pytest.param(lambda text: f" \u00a0{text}\t", id="blanks at its ends"),
        pytest.param(lambda text: text.replace(" ", "\r\n"), id="other line ends"),
        pytest.param(lambda text: f"\ufeff{text}", id="a mark of order"),
        pytest.param(lambda text: f"\u201c{text}\u201d.", id="quotes and a stop"),
        pytest.param(lambda text: text.replace("debt", "de\u00adbt"), id="a soft hyphen"),
        pytest.param(str.upper, id="capitals"),
        pytest.param(lambda text: unicodedata.normalize("NFD", text), id="decomposed"),
    ],
)
def test_a_text_that_another_program_wrote_is_the_same_document(
    change: Callable[[str], str],
) -> None:
    assert change(TEXT) != TEXT
    assert text_hash(change(TEXT).encode()) == text_hash(TEXT.encode())


@pytest.mark.parametrize(
    "changed",
    [
        TEXT.replace("12", "13"),
        TEXT.replace("debt", "debts"),
        TEXT.replace("é", "e"),
        TEXT.replace("\u0940", "\u093e"),
        f"{TEXT} \U0001f600",
        TEXT.replace("a loan", "loan a"),
        "",
    ],
)
def test_another_letter_number_or_order_is_another_document(changed: str) -> None:
    assert text_hash(changed.encode()) != text_hash(TEXT.encode())


@given(st.text(st.characters(max_codepoint=127)))
def test_one_character_beyond_ascii_changes_nothing_before_it(text: str) -> None:
    assert fold_text(f"{text}é".encode()) == fold_text(text.encode()) + "é".encode()


@given(st.text())
def test_what_was_folded_stays_as_it_is(text: str) -> None:
    once = fold_text(text.encode())
    assert fold_text(once) == once


def test_documents_without_a_word_are_one_text() -> None:
    assert DocumentSet.of_texts(["", " ", "...", "a"]).copies == 2
