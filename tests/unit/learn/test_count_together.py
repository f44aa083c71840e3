"""Counting together in one call: what comes out, what it costs, and what is refused."""

import warnings
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import (
    BudgetError,
    DataError,
    InputError,
    LedgerError,
    ParameterError,
    SottovoceError,
    TooFewPartiesError,
)
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.recipe import promise_record
from sottovoce.privacy import Ledger, shares

WORDS = ["bank", "debt", "loan"]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def notes(*names: str) -> dict[str, list[str]]:
    return {
        name: [f"a debt of {name} {at}" for at in range(30)] + [f"the bank of {name}"]
        for name in names
    }


HOLDERS = notes("ada", "ben", "cy")


def count(ledger: Path, holders: object = HOLDERS, **options: object) -> TogetherCounts:
    chosen = {"words": WORDS, "epsilon": 100, "votes": 3, **options}
    return sv.count_together(holders, ledger=ledger, **chosen)  # type: ignore[arg-type] # tests of what is refused


def test_words_of_all_holders_are_counted(ledger: Path) -> None:
    counted = count(ledger)
    assert counted.totals.tolist() == pytest.approx([3, 90, 0, 93], abs=3)
    assert counted.words == tuple(WORDS)
    assert counted.documents == pytest.approx(93, abs=3)
    assert counted.survivors == ("ada", "ben", "cy")
    assert (counted.parties, counted.recipe.rate) == (3, Fraction(100, 3))
    top = counted.rows(most=1)[0]
    assert (top["word"], top["low"] <= 90 <= top["high"]) == ("debt", True)


def test_words_are_counted_by_label_in_files_frames_and_rows(ledger: Path, tmp_path: Path) -> None:
    file = tmp_path / "ada.csv"
    file.write_text("kind,body\nspam,a loan\nham,the bank\n", encoding="utf-8")
    frame = pa.table({"body": ["loan of ben", "bank of ben"], "kind": ["spam", "ham"]})
    rows = [{"body": "cy has a loan", "kind": "spam"}, {"body": "cy and a bank", "kind": "ham"}]
    counted = count(
        ledger,
        {"ada": file, "ben": frame, "cy": rows},
        text="body",
        label="kind",
        labels=["spam", "ham"],
    )
    assert counted.labels == ("ham", "spam")
    assert counted.word_totals.tolist() == [[3, 0, 0], [0, 0, 3]]
    assert counted.document_totals.tolist() == [3, 3]


def test_pairs_are_counted(ledger: Path) -> None:
    holders = {name: [f"debt and loan of {name}"] * 2 for name in ("ada", "ben", "cy")}
    counted = count(ledger, holders, what="pairs", votes=4)
    assert counted.pair_totals[1, 2] == counted.pair_totals[2, 1] == 24
    assert counted.pair_totals.sum() == 48
    assert counted.documents == 6
    assert counted.rows(most=1)[0]["other"] == "loan"


def test_a_user_s_documents_are_bounded(ledger: Path) -> None:
    rows = [{"text": f"a debt, {at}", "who": "mia"} for at in range(9)]
    holders = {name: [{**row, "text": f"{row['text']} {name}"} for row in rows] for name in "abc"}
    counted = count(ledger, holders, user="who", documents_per_user=2)
    assert counted.document_totals.tolist() == [6]
    assert counted.guarantee.user_epsilon == 200
    told = counted.guarantee.in_words()
    assert "all of one user by at most e^200" in told
    assert "(replacing one by another of the same user, its label included: e^200" in told
    assert "one of another user: e^400)" in told


def test_a_lost_holder_is_left_out_and_the_noise_known(ledger: Path) -> None:
    from sottovoce.learn.wire.exchange import Faults  # noqa: PLC0415 - one test's

    holders = notes("ada", "ben", "cy", "dee")
    counted = count(ledger, holders, drop=1, faults=Faults(silent_from={"dee": 5}))
    assert counted.survivors == ("ada", "ben", "cy")
    assert counted.document_totals.tolist() == pytest.approx([93], abs=3)
    assert (counted.parties, float(counted.law.shape)) == (4, 1.5)


def test_the_promise_is_said_in_words_with_the_result(ledger: Path) -> None:
    counted = count(ledger, notes("ada", "ben", "cy", "dee"), epsilon=1, collude=1)
    said = counted.guarantee.in_words()
    assert "Adding or removing one whole document" in said
    assert "at most e^1 (replacing one, its label included: e^2)" in said
    assert "against everyone but more than 1 of the 4 peers colluding" in said
    assert "Adding or removing one whole document" in counted._repr_html_()
    assert promise_record(counted.guarantee)["epsilon"] == "1"
    assert promise_record(counted.guarantee)["in_words"] == said


def test_a_second_count_is_refused_unless_the_budget_allows_it(ledger: Path) -> None:
    count(ledger, epsilon=1)
    with pytest.raises(BudgetError, match="counting whole documents at epsilon 1 must fit"):
        count(ledger, epsilon=1)
    other = ledger.with_name("planned")
    for _ in range(2):
        count(other, epsilon=1, budget=2)
    with pytest.raises(BudgetError):
        count(other, epsilon=1, budget=2)


def test_counts_and_releases_of_the_same_documents_add_up(ledger: Path) -> None:
    count(ledger, epsilon=1, budget=2)
    texts = HOLDERS["ada"]
    # Of 4 nats for any change within a document 2 are spent.
    sv.release_counts(texts, words=WORDS, epsilon=4, precision=2, ledger=ledger)
    with pytest.raises(BudgetError):
        sv.release_counts(texts, words=WORDS, epsilon=1, precision=2, ledger=ledger)
    with pytest.raises(BudgetError):
        count(ledger, epsilon=1, budget=2)
    spent = {str(account.spent) for account in Ledger(ledger).accounts()}
    assert spent == {"4"}


@pytest.mark.parametrize("begun", [False, True], ids=["a new ledger", "one that is there"])
def test_what_another_ledger_of_the_user_has_spent_counts(
    ledger: Path, monkeypatch: pytest.MonkeyPatch, *, begun: bool
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(ledger.parent / "state"))
    monkeypatch.setenv("SOTTOVOCE_LEDGER", str(ledger))
    if begun:
        sv.release_counts(["something else"], words=WORDS, epsilon=1, precision=1)
    other = ledger.with_name("other")
    sv.release_counts(HOLDERS["ada"], words=WORDS, epsilon=4, precision=2, ledger=other)
    with pytest.raises(BudgetError, match="counting whole documents at epsilon 1 must fit"):
        sv.count_together(HOLDERS, words=WORDS, epsilon=1, votes=3)


def test_what_several_holders_have_pays_for_each_of_them(ledger: Path) -> None:
    same = {name: ["the bank of all", f"a debt of {name}"] for name in ("ada", "ben", "cy")}
    with pytest.warns(UserWarning, match=r"1 texts are held by .* up to 3 .* up to epsilon 3\."):
        count(ledger, same, epsilon=1)
    spent = {str(account.spent) for account in Ledger(ledger).accounts()}
    assert spent == {"2", "6"}


def test_a_refused_count_draws_and_spends_nothing(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count(ledger, epsilon=1)
    drawn: list[object] = []
    monkeypatch.setattr(shares, "NoiseShare", lambda **given: drawn.append(given))
    with pytest.raises(BudgetError):
        count(ledger, epsilon=1)
    assert not drawn
    assert [str(account.spent) for account in Ledger(ledger).accounts()] == ["2"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"votes": 1}, "votes must be from 2 to 4096, one for the document"),
        ({"votes": 5000}, "votes must be from 2"),
        ({"votes": 0, "what": "pairs"}, "votes must be from 1"),
        ({"epsilon": 0}, "epsilon must be > 0"),
        ({"epsilon": 101}, "epsilon must be above 0 and at most 100"),
        ({"epsilon": "0.0001", "votes": 9}, "epsilon must be at least 1/10000 for each of 9"),
        ({"drop": -1}, "drop and collude must be >= 0"),
        ({"drop": 1}, "drop must leave at least 3 of 3 peers"),
        ({"collude": 3}, "at least 1 honest peer"),
        ({"words": None}, "words must be a public list"),
        ({"what": "letters"}, "what must be one of"),
        ({"documents_per_user": 2}, "belong together"),
        ({"label": "kind"}, "labels must be named, all of them"),
        ({"budget": "0.5"}, "the budget does not even allow"),
        # With votes=2.5 a document would cast 3, at noise for 2.5.
        ({"votes": 2.5}, "votes must be a (whole )?number"),
        ({"drop": "two"}, "drop must be a (whole )?number"),
        ({"collude": True}, "collude must be a (whole )?number"),
        ({"documents_per_user": 2.5}, "documents_per_user must be a (whole )?number"),
        ({"documents_per_user": 0, "user": "who"}, "documents_per_user must be from 1"),
    ],
)
def test_what_is_out_of_range_is_refused_before_anything_is_spent(
    ledger: Path, options: dict[str, object], words: str
) -> None:
    with pytest.raises(SottovoceError, match=words):
        count(ledger, **{"epsilon": 1, **options})
    assert not ledger.exists()


def test_too_many_lost_and_colluding_together_are_refused(ledger: Path) -> None:
    with pytest.raises(ParameterError, match=r"of 5 peers 1 could tell .* got 1; lower drop"):
        count(ledger, notes(*"abcde"), drop=2, collude=1)
    with pytest.raises(ParameterError, match="at least 1 honest peer"):
        count(ledger, notes(*"abcd"), drop=1, collude=3)


def test_two_holders_are_too_few(ledger: Path) -> None:
    with pytest.raises(TooFewPartiesError, match="at least 3 peers must count together, got 2"):
        count(ledger, notes("ada", "ben"))


def test_words_that_documents_chose_are_refused_unless_declared(ledger: Path) -> None:
    chosen = Vocabulary(tuple(WORDS), data_dependent=True, origin="the notes")
    with pytest.raises(ParameterError, match="documents chose these words"):
        count(ledger, words=chosen)
    listed = ledger.with_name("words.txt")
    chosen.save(listed)
    with pytest.raises(ParameterError, match="documents chose these words"):
        count(ledger, words=listed)
    counted = count(ledger, words=listed, declare_data_dependent=True)
    assert counted.recipe.declared


def test_a_label_that_no_list_names_is_refused_without_naming_it(ledger: Path) -> None:
    holders = {name: ([f"a debt of {name}"], ["odd"]) for name in ("ada", "ben", "cy")}
    with pytest.raises(DataError) as found:
        count(ledger, holders, labels=["ham", "spam"])
    assert "odd" not in str(found.value)
    assert not ledger.exists()


@pytest.mark.parametrize(
    "nothing", [[], ([], []), pa.table({"text": pa.array([], pa.string())}), "empty.csv"]
)
def test_a_holder_without_documents_counts_along(
    ledger: Path, nothing: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To refuse it would tell one document from none."""
    monkeypatch.chdir(ledger.parent)
    Path("empty.csv").write_text("text\n", encoding="utf-8")
    for _ in range(2):
        counted = count(ledger, {**HOLDERS, "cy": nothing}, epsilon=100, budget=200)
        assert counted.survivors == ("ada", "ben", "cy")
        assert counted.document_totals.tolist() == pytest.approx([62], abs=3)


def test_holders_of_another_kind_are_refused(ledger: Path) -> None:
    with pytest.raises(InputError, match="a holder must be a file's path"):
        count(ledger, {"ada": 3, "ben": 4, "cy": 5})
    with pytest.raises(InputError, match="a holder must be a file's path"):
        count(ledger, {"ada": ["a debt", 3], "ben": [], "cy": []})
    with pytest.raises(InputError, match="a column for each of label"):
        count(ledger, labels=["ham", "spam"])


def test_rows_without_a_text_are_told_of(ledger: Path) -> None:
    rows = [{"text": "a debt"}, {"text": None}]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        count(ledger, dict.fromkeys(("ada", "ben", "cy"), rows))
    assert any("3 missing text" in str(each.message) for each in told)


FEW = {name: [f"a debt of {name} {at}" for at in range(5)] for name in ("ada", "ben", "cy")}


class Running:
    """A federation that must not be asked."""

    identities: Mapping[str, bytes] = {}
    here = "ada"

    def run(self, terms: object, examples: object) -> Mapping[str, Any]:
        raise AssertionError((terms, examples))


@pytest.mark.parametrize("name", ["text", "label", "user", "id", "ledger", "budget"])
def test_what_running_peers_say_themselves_is_refused(name: str) -> None:
    given: Any = {name: "1"}
    with pytest.raises(ParameterError, match=rf"own party\.toml .*: leave out {name}\."):
        sv.count_together(Running(), words=["debt"], epsilon=1, **given)


@pytest.mark.parametrize("labels", [["a"], ["a", "b", "a"], "ab"])
def test_labels_that_are_no_list_of_two_are_refused_as_a_count_s(
    ledger: Path, labels: object
) -> None:
    holders = {name: (texts, ["a"] * 5) for name, texts in FEW.items()}
    with pytest.raises(ParameterError, match="leave labels out to count words without them"):
        count(ledger, holders, epsilon=1, labels=labels)
    assert not ledger.exists()


@pytest.mark.parametrize("texts", [[None, "a debt"], ["a \ud800"], [{"text": "a \ud800"}]])
def test_what_is_no_text_is_refused_by_a_planned_error(ledger: Path, texts: object) -> None:
    with pytest.raises(InputError):
        count(ledger, {**FEW, "cy": texts}, epsilon=1)
    assert not ledger.exists()


def test_a_column_that_is_missing_is_named_as_counts_name_it(ledger: Path) -> None:
    rows = [{"body": "a debt"}]
    with pytest.raises(InputError, match="name it: text=, label=, user= or id="):
        count(ledger, {**FEW, "cy": rows}, epsilon=1)


def test_a_refusal_of_what_several_hold_says_so(ledger: Path) -> None:
    held = {name: ["the same debt"] for name in FEW}
    with pytest.raises(BudgetError, match="3 times: 3 of the holders have the same texts"):
        count(ledger, held, epsilon=1, budget=2)


def test_another_budget_is_refused_in_epsilon_of_whole_documents(ledger: Path) -> None:
    count(ledger, FEW, epsilon=1)
    with pytest.raises(LedgerError, match="twice the epsilon of a whole one"):
        count(ledger, FEW, epsilon=1, budget=2)


def test_a_budget_of_whole_documents_holds_where_users_are_bounded(ledger: Path) -> None:
    rows = {name: [{"text": text, "user": "u"} for text in texts] for name, texts in FEW.items()}
    # A single document is promised 2 epsilon then, and a budget of 2 is spent.
    count(ledger, rows, epsilon=1, user="user", documents_per_user=3, budget=2)
    with pytest.raises(BudgetError, match="whole documents at epsilon 1 must fit"):
        count(ledger, FEW, epsilon=1, budget=2)
