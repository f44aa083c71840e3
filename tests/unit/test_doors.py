"""The front doors: what they show, that they say how to be used, and whom they do not name."""

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sottovoce as sv
from sottovoce.assess.explanation import UserPosts
from sottovoce.corpus.counts import term_statistics
from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import CorpusError, InputError, MissingExtraError, ParameterError
from sottovoce.lazy import attach
from sottovoce.privacy.ledger.elsewhere import user_ledger
from sottovoce.release.inputs import count_documents

DOORS = (
    "sottovoce",
    *(f"sottovoce.{name}" for name in dir(sv) if hasattr(getattr(sv, name), "__path__")),
    "sottovoce.privacy",
)
OTHER_DOORS = ("sottovoce.advisor", "sottovoce_spark")
VERBS = ("sottovoce.assess", "sottovoce.release", "sottovoce.learn")
MOST_NAMES = 15

MARKED_USER, MARKED_TEXT = "marked-user-7f3a", "markedword loan"
TOPICS = (
    sv.topics.Topic("debt", ("loan", "bank"), "money", sensitive=True),
    sv.topics.Topic("sea", ("boat",), "travel"),
)


def door(name: str) -> ModuleType:
    return importlib.import_module(name)


def inner_doors() -> list[str]:
    """Packages below the front doors that export something."""
    return [
        f"sottovoce.{outer}.{inner.name}"
        for outer in ("corpus", "privacy", "release", "topics")
        for inner in pkgutil.iter_modules(door(f"sottovoce.{outer}").__path__)
        if inner.ispkg and hasattr(door(f"sottovoce.{outer}.{inner.name}"), "__all__")
    ]


def public_objects() -> list[tuple[str, str]]:
    return [
        (name, each)
        for name in DOORS
        for each in door(name).__all__
        if not inspect.ismodule(getattr(door(name), each)) and each != "__version__"
    ]


def marked_posts() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = [
        {"author": f"user{i}", "at": f"2024-01-{i + 1:02}", "body": "the boat is at sea"}
        for i in range(9)
    ]
    return [*rows, {"author": MARKED_USER, "at": "2024-01-05", "body": MARKED_TEXT}]


def assessed(posts: Source, **options: Any) -> sv.assess.Ranking:  # noqa: ANN401 - any option
    named: dict[str, Any] = {"user": "author", "time": "at", "text": "body", **options}
    return sv.assess_posts(posts, topics=TOPICS, measures="bow-dt", **named)


def released(
    documents: Source,
    folder: Path,
    **options: Any,  # noqa: ANN401 - any option
) -> sv.release.Release:
    asked: dict[str, Any] = {
        "words": ["loan", "bank", "boat"],
        "epsilon": 2,
        "precision": 2,
        **options,
    }
    return cast(
        "sv.release.Release", sv.release_counts(documents, ledger=folder / "my.ledger", **asked)
    )


def same_counts(first: sv.release.Release, second: sv.release.Release) -> bool:
    return np.array_equal(first.counts.toarray(), second.counts.toarray())


@pytest.mark.parametrize("name", [*DOORS, *OTHER_DOORS])
def test_a_door_lists_its_public_names_and_nothing_else(name: str) -> None:
    package = door(name)
    assert dir(package) == sorted(package.__all__)
    assert not [each for each in package.__all__ if not hasattr(package, each)]


def test_only_the_outer_packages_export_names() -> None:
    assert inner_doors() == []


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_has_few_names(name: str) -> None:
    # An audit is part of what `learn` promises, beside its verbs.
    assert len(set(door(name).__all__) - {"audit_training"}) <= MOST_NAMES


@pytest.mark.parametrize("name", [name for name in DOORS if name != "sottovoce"])
def test_a_name_is_what_it_says_and_no_module_hides_it(name: str) -> None:
    assert not [each for each in door(name).__all__ if inspect.ismodule(getattr(door(name), each))]


@pytest.mark.parametrize(("name", "each"), public_objects())
def test_every_public_name_has_an_example_that_runs(name: str, each: str) -> None:
    public = getattr(door(name), each)
    own = public.__doc__ or ""
    module = sys.modules[public.__module__]
    found = doctest.DocTestFinder(recurse=False).find(public, each, globs=dict(vars(module)))
    examples = [example for test in found for example in test.examples]
    assert examples, f"{name}.{each} has no example in its docstring: {own[:60]!r}"
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in found:
        runner.run(test, out=pytest.fail)
    assert runner.summarize(verbose=False).failed == 0


def test_a_name_that_is_not_there_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="'sottovoce.assess' has no attribute 'asess'"):
        _ = sv.assess.asess  # type: ignore[attr-defined] # what is being tried


def test_a_name_that_needs_an_absent_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needy_module.py").write_text("import absent_package\nthing = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    get, _ = attach("sottovoce.release", {"thing": "needy_module"}, extra="release")
    with pytest.raises(MissingExtraError, match=r"absent_package.*pip install 'sottovoce\[release"):
        get("thing")


def test_importing_the_package_loads_nothing_heavy() -> None:
    script = "import sys, sottovoce; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    ours = {name for name in loaded if name.startswith("sottovoce")}
    assert ours == {"sottovoce", "sottovoce.lazy"}
    assert not {"numpy", "pyarrow", "numba", "importlib.metadata"} & set(loaded)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "dictionaries", "tuples", "path"])
def test_posts_of_any_kind_give_the_same_ranks(kind: str, tmp_path: Path) -> None:
    rows = marked_posts()
    table = pa.Table.from_pylist(rows)
    expected = assessed(table).table
    if kind == "tuples":
        given: Any = (tuple(row.values()) for row in rows)
        found = sv.assess_posts(given, topics=TOPICS, measures="bow-dt").table
    else:
        pd.DataFrame(rows).to_csv(tmp_path / "posts.csv", index=False)
        given = {
            "pandas": pd.DataFrame(rows),
            "polars": pl.DataFrame(rows),
            "arrow": table,
            "dictionaries": iter(rows),
            "path": tmp_path / "posts.csv",
        }[kind]
        found = assessed(given).table
    assert found.equals(expected)


def test_a_frame_is_folded_into_a_state_once(tmp_path: Path) -> None:
    state = tmp_path / "my.state"
    first = assessed(pl.DataFrame(marked_posts()), state=state)
    with pytest.warns(UserWarning, match="in the state already"):
        again = assessed(pd.DataFrame(marked_posts()), state=state)
    assert again.table.equals(first.table)
    more = assessed([{"author": "late", "at": "2024-02-01", "body": "a loan"}], state=state)
    assert more.users == first.users + 1


def test_alerts_come_from_the_state_and_tell_what_changed_since_the_last(tmp_path: Path) -> None:
    ranking = assessed(marked_posts(), state=tmp_path / "my.state")
    first, again = ranking.alerts(top=[10]), ranking.alerts(top=[10])
    assert first.table["user"].to_pylist() == [MARKED_USER]
    assert first.summary[0]["users"] == 1
    assert again.table.num_rows == 0
    with pytest.raises(ParameterError, match="alerts need a state"):
        assessed(marked_posts()).alerts()


def test_ranks_come_as_a_frame_of_the_library_that_is_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ranking = assessed(marked_posts())
    assert isinstance(ranking.to_frame("pandas"), pd.DataFrame)
    assert isinstance(ranking.to_frame("polars"), pl.DataFrame)
    assert ranking.to_frame() is ranking.table
    with pytest.raises(ParameterError, match="one of arrow, pandas, polars"):
        ranking.to_frame("dask")  # type: ignore[arg-type] # what is being tried
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(InputError, match="polars is not installed; install it"):
        ranking.to_frame("polars")


def test_rows_without_topics_are_ranked_by_the_shipped_catalogue() -> None:
    ranking = sv.assess_posts(
        marked_posts(), user="author", time="at", text="body", measures="bow-t"
    )
    assert set(ranking.table["topic"].to_pylist()) == set(sv.topics.shipped_catalogue().names)


def test_rows_with_no_post_say_what_to_give() -> None:
    with pytest.raises(ParameterError, match="give posts, or a state with posts"):
        sv.assess_posts(None, topics=TOPICS)


def test_skipped_posts_are_told() -> None:
    rows = marked_posts()
    rows[0] = {**rows[0], "at": "some day"}
    with pytest.warns(UserWarning, match="of 10 rows: 1 unreadable time"):
        assessed(rows)


def test_rows_of_mixed_kinds_are_refused_without_their_values() -> None:
    rows = [("ada", 3.5, "a loan"), ("ben", MARKED_TEXT, "the sea")]
    with pytest.raises(CorpusError, match="for time are not of one kind") as refused:
        sv.assess_posts(rows, topics=TOPICS)
    assert MARKED_TEXT not in str(refused.value)


def test_the_same_frame_again_gives_the_same_bytes_and_spends_nothing(tmp_path: Path) -> None:
    notes = pl.DataFrame({"body": ["my loan", "the bank", "a boat"] * 20})
    first = released(notes, tmp_path, text="body", out=tmp_path / "first")
    again = released(notes.to_pandas(), tmp_path, text="body")
    rows = released(notes["body"].to_list(), tmp_path, out=tmp_path / "rows")
    assert same_counts(first, again)
    for name in first.card.files:
        assert (tmp_path / "rows" / name).read_bytes() == (tmp_path / "first" / name).read_bytes()
    assert first.card == again.card == rows.card
    assert again.folder is None
    [account] = sv.release.Ledger(tmp_path / "my.ledger").accounts()
    assert account.spent == account.budget.rate


@pytest.mark.usefixtures("small_audits")
def test_a_release_is_audited_with_or_without_its_folder(tmp_path: Path) -> None:
    kept = released(["my loan", "a boat"] * 30, tmp_path, out=tmp_path / "out")
    alone = released(["my loan", "a boat"] * 30, tmp_path)
    audits = [one.audit(trials=2000) for one in (kept, alone)]
    assert audits[0].holds
    assert len({tuple(each.name for each in audit.findings) for audit in audits}) == 1


def test_a_release_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="words must be a public list.*declare_data_dependent"):
        released(["a loan"], tmp_path, words=None)
    with pytest.raises(ParameterError, match="give user_documents too"):
        released(["a loan"], tmp_path, user="author")
    assert not list(tmp_path.iterdir())


def quoted(documents: Source, folder: Path, **options: Any) -> sv.release.ReleaseQuote:  # noqa: ANN401 - any option
    return cast("sv.release.ReleaseQuote", released(documents, folder, dry_run=True, **options))


def test_a_release_costs_what_was_quoted_and_then_nothing(tmp_path: Path) -> None:
    texts = ["my loan", "a boat"]
    before = quoted(texts, tmp_path, budget=5)
    made = released(texts, tmp_path, budget=5, out=tmp_path / "out")
    [account] = sv.release.Ledger(tmp_path / "my.ledger").accounts()
    assert (account.budget, account.spent) == (before.account.budget, before.account.spent)
    assert made.card.in_words() == before.card.in_words()
    again = quoted(texts, tmp_path, out=tmp_path / "out")
    assert [again.cost, again.rest] == [0, 3]
    assert again.paid_before
    other = quoted(texts, tmp_path, label="second")
    assert [other.cost, other.rest] == [2, 1]


def test_words_that_the_data_chose_are_refused_in_the_words_of_python_too(tmp_path: Path) -> None:
    chosen = term_statistics([pa.array(["my loan"])]).vocabulary()
    with pytest.raises(ParameterError, match=r"words=\).*declare_data_dependent=True"):
        released(["my loan"], tmp_path, words=chosen)
    with pytest.raises(ParameterError, match=r"min_texts=, max_terms=\) choose words.*words="):
        released(["my loan"], tmp_path, min_texts=2)
    with pytest.raises(ParameterError, match="rows could not be used.*declare_data_dependent=True"):
        released([{"text": "my loan"}, {"text": None}], tmp_path)


def test_a_missing_column_is_named_by_the_keyword_of_the_call(tmp_path: Path) -> None:
    frame = pd.DataFrame({"author": ["ada"], "at": ["2024-01-01"], "body": ["my loan"]})
    numbers = pd.DataFrame({"n": [1], "k": [2.5]})
    with pytest.raises(CorpusError, match="in Python text='n' of assess_posts or release_counts"):
        released(numbers, tmp_path)
    unclear = frame.rename(columns={"author": "colour"})
    with pytest.raises(CorpusError, match="in Python user='colour' of assess_posts"):
        sv.assess_posts(unclear, topics=TOPICS)


def test_a_file_and_a_frame_are_charged_to_the_ledger_of_their_user(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("my loan\na boat\n")
    asked: Any = {"words": ["loan", "boat"], "epsilon": 1, "precision": 1}
    first = sv.release_counts(tmp_path / "notes.txt", **asked)
    again = sv.release_counts(["my loan", "a boat"], **asked)
    assert (first.counts != again.counts).nnz == 0
    [account] = sv.release.Ledger(user_ledger()).accounts()
    assert account.documents == 2
    assert account.spent == 1
    assert not (tmp_path / "notes.txt.ledger").exists()


def results(tmp_path: Path) -> list[object]:
    """One of each result, made from posts of a marked user with marked words."""
    rows = marked_posts()
    ranking = assessed(rows, state=tmp_path / "my.state")
    texts = [str(row["body"]) for row in rows]
    reading = sv.corpus.ReadOptions(columns={"user": "author", "time": "at", "text": "body"})
    posts = sv.corpus.open_posts(rows, options=reading)
    statistics = term_statistics([pa.array(texts)])
    theirs = UserPosts(MARKED_USER)
    list(theirs.note_batches(posts))
    documents = count_documents(posts, statistics.vocabulary(), TokenRules())
    release = released(texts, tmp_path, words=None, declare_data_dependent=True)
    return [
        ranking,
        ranking.alerts(top=[10]),
        ranking.explain(MARKED_USER, "debt"),
        sv.assess.load_state(tmp_path / "my.state"),
        posts,
        theirs,
        sv.corpus.summarise_posts(posts),
        statistics,
        statistics.vocabulary(),
        documents,
        release,
        release.card,
        quoted(texts, tmp_path / "quotes"),
        sv.corpus.count([pa.array(texts)]),
    ]


def test_no_result_shows_a_user_or_a_text_when_it_is_printed(tmp_path: Path) -> None:
    for result in results(tmp_path):
        html = getattr(result, "_repr_html_", str)
        for shown in (repr(result), str(result), html()):
            assert MARKED_USER not in shown, type(result)
            assert "markedword" not in shown, type(result)
            assert "object at 0x" not in shown, type(result)
