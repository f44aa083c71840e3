"""The same question with defaults, asked on the command line and from Python: one answer."""

import csv
import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from support.counterparts import COUNTERPARTS, Counterpart
from typer.testing import CliRunner

import sottovoce as sv
from sottovoce.assess.evaluation.runs import evaluate_ranks
from sottovoce.cli._app import app
from sottovoce.corpus.counts import count
from sottovoce.corpus.read.corpus import open_documents, open_posts
from sottovoce.corpus.summary import summarise_posts
from sottovoce.learn import audit_training
from sottovoce.learn.count.reading import counted_topics
from sottovoce.privacy.audit.findings import AuditReport, Finding
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.release import Ledger
from sottovoce.topics import LdaParameters, WordChoice, load_model, train_lda
from sottovoce.topics.imports.libraries import import_model
from sottovoce.topics.judgements import agreement as study
from sottovoce.topics.judgements.votes import read_votes, topic_sheet, topic_votes
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.match import catalogue_of

WORDS = ("bank", "debt", "doctor", "family", "home", "loan", "money", "sleep", "work")
ELSEWHERE = {
    "assess": "tests/integration/assess/test_python_ranks_as_the_command.py",
    "explain": "tests/integration/assess/test_python_ranks_as_the_command.py",
    "learn train": "tests/integration/federation/test_learn_processes.py",
    "learn evaluate": "tests/integration/federation/test_learn_processes.py",
    "learn classify": "tests/integration/federation/test_learn_processes.py",
    "learn count": "tests/integration/federation/test_learn_count.py",
    "rank-edges": "tests/integration/advisor/rank/test_rank_edges.py",
    "topics judge export-profiles": "tests/integration/test_command_line_topics_judge.py",
    "topics judge import-profiles": "tests/integration/test_command_line_topics_judge.py",
}
"""Pairs that need several processes, or random codes, and the tests that hold them together."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What all pairs are asked of: a community, a model, ranks, a state, a release and counts."""
    folder = tmp_path_factory.mktemp("world")
    community = sv.simulate(users=60, weeks=3, seed=5, background_documents=200, folder=folder)
    (folder / "words.txt").write_text("\n".join(WORDS) + "\n")
    texts = community.background["text"].to_pylist()
    asked = LdaParameters(topics=8, iterations=20, workers=1)
    train_lda(texts, asked, words=WordChoice(min_texts=2)).save(folder / "model")
    options: dict[str, Any] = {"topics": folder / "topics.toml", "measures": "bow-t,ent"}
    sv.assess_posts(community.posts, **options, out=folder / "ranks.parquet")
    for name in ("by-command.state", "by-python.state"):
        sv.assess_posts(community.posts, **options, state=folder / name)
    documents = community.posts.select(["text"]).slice(0, 200)
    pq.write_table(documents, folder / "documents.parquet")
    release: dict[str, Any] = {"words": folder / "words.txt", "epsilon": 4, "precision": 2}
    ledger, out = folder / "ledger", folder / "released"
    sv.release_counts(documents, **release, ledger=ledger, out=out)
    return folder


@pytest.fixture(autouse=True)
def here(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world)


def command(*words: object, code: int = 0) -> Any:  # noqa: ANN401 - what JSON holds
    done = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert done.exit_code == code, (done.output, done.exception)
    return json.loads(done.stdout)


def plain(value: object) -> Any:  # noqa: ANN401 - what JSON holds
    return json.loads(json.dumps(value, default=str))


def simulate(folder: Path) -> None:
    command("simulate", folder / "by-command", "--users", 50, "--weeks", 2)
    sv.simulate(users=50, weeks=2, folder=folder / "by-python")
    files = sorted(path.name for path in (folder / "by-python").iterdir())
    assert len(files) == 4
    for name in files:
        read = [(folder / by / name).read_bytes() for by in ("by-command", "by-python")]
        assert read[0] == read[1], name


def describe(_: Path) -> None:
    by_command = command("describe", "posts.parquet")
    found = asdict(summarise_posts(open_posts("posts.parquet")))
    assert by_command["posts_by_week"] == {
        week.isoformat(): number for week, number in found.pop("posts_by_week").items()
    }
    for name in ("posts_per_user", "words_per_post"):
        assert list(by_command[name].values()) == list(found.pop(name))
    assert found == {name: by_command[name] for name in found}


def count_words(folder: Path) -> None:
    by_command = command("count", "posts.parquet", "--out", folder)
    found = count(batch["text"] for batch in open_documents("posts.parquet"))
    assert abs(sparse.load_npz(folder / "counts.npz") - found.matrix).sum() == 0
    terms = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    assert tuple(terms[-len(found.vocabulary) - 1 : -1]) == found.vocabulary.terms
    assert by_command["nonzero_counts"] == found.matrix.nnz


def evaluate(_: Path) -> None:
    beside = ["--posts", "posts.parquet", "--topics", "topics.toml"]
    by_command = command("evaluate", "ranks.parquet", "truth.parquet", *beside)
    options: dict[str, Any] = {"posts": "posts.parquet", "topics": "topics.toml"}
    found = evaluate_ranks("ranks.parquet", "truth.parquet", **options)
    assert plain(found.record()) == by_command
    ranking = sv.assess_posts("posts.parquet", topics="topics.toml", measures="bow-t,ent")
    truth = pq.read_table("truth.parquet")
    again = evaluate_ranks(ranking.table, truth, **options)
    assert plain(again.record()) == by_command


def alerts(_: Path) -> None:
    by_command = command("alerts", "by-command.state", "--show-users", 1000)
    found = sv.assess_posts(None, state="by-python.state").alerts()
    assert by_command["changes"] == plain(list(found.summary))
    entered = found.table.filter(found.table["entered"]).drop_columns(["entered"])
    assert by_command["entered"] == plain(entered.to_pylist())


def release(folder: Path) -> None:
    asked = ["documents.parquet", "--vocabulary", "words.txt", "--epsilon", 4, "--precision", 2]
    options: dict[str, Any] = {"words": "words.txt", "epsilon": 4, "precision": 2}
    paid: dict[str, Any] = {"ledger": "ledger", "out": folder / "by-python"}
    by_command = command("release", *asked, "--ledger", "ledger", "--out", folder / "by-command")
    made = sv.release_counts("documents.parquet", **options, **paid)
    for name in made.card.files:
        read = [(folder / by / name).read_bytes() for by in ("by-command", "by-python")]
        assert read[0] == read[1], name
    assert by_command["in_words"] == made.card.in_words()
    new = folder / "new.ledger"
    dry = command("release", *asked, "--ledger", new, "--out", folder / "x", "--dry-run")
    quote = sv.release_counts("documents.parquet", **options, ledger=new, dry_run=True)
    assert quote.errors is not None
    assert dry["errors"] == plain(dict(quote.errors.facts()))
    assert dry["in_words"] == quote.card.in_words()
    assert (dry["documents"], dry["columns"]) == (quote.card.documents, quote.card.columns)
    assert made.guarantee == LimitedPrecision(2, 4)


def analyse(_: Path) -> None:
    by_command = command("analyse", "released", "--topics", 3)
    found = sv.load_release("released")
    summary = found.summary()
    assert by_command["totals"] == plain(summary.totals.rows(10))
    assert by_command["pairs"] == plain(summary.pairs.rows(10))
    assert by_command["meter"]["dimensions"] == summary.meter.dimensions
    if summary.meter.dimensions < 3:
        with pytest.warns(UserWarning, match="drawn by noise"):
            topics = found.topics(3)
    else:
        topics = found.topics(3)
    assert by_command["topics"] == found.topic_words(topics, 20)


def audit(_: Path) -> None:
    """The sampler's own audit takes a minute, and is one function for both: here it sees little."""
    found = sv.load_release("released")
    seen = AuditReport((Finding("sampler", holds=True, detail="as it was claimed"),))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sottovoce.release.audit.audit_sampler", lambda *_, **__: seen)
        for texts in (None, "documents.parquet"):
            words = [] if texts is None else ["--texts", texts]
            by_command = command("audit", "--release", "released", *words)
            report = found.audit(texts=texts)
            assert by_command["holds"] is report.holds
            told = [(each["name"], each["holds"]) for each in by_command["findings"]]
            assert told == [(each.name, each.holds) for each in report.findings]
            assert len(told) > 2


def statement(folder: Path) -> None:
    rules = command("rank-server", "--topics", "topics.toml", "--dry-run")
    (folder / "rules.json").write_text(json.dumps(rules), encoding="utf-8")
    for source in ("released", folder / "rules.json"):
        out = folder / "statement.md"
        by_command = command("statement", source, "--out", out)
        made = sv.make_statement(source)
        assert out.read_text(encoding="utf-8") == made.markdown()
        assert by_command == plain({**made.facts(), "file": str(out)})


def ledger_show(_: Path) -> None:
    [by_command] = command("ledger", "show", "ledger")["accounts"]
    ledger = Ledger(Path("ledger"))
    [account] = ledger.accounts()
    spends = ledger.spends(account.corpus)
    ledger.close()
    assert (by_command["corpus"], by_command["documents"]) == (account.corpus, account.documents)
    assert by_command["spent"]["nats_per_word"] == str(account.spent)
    assert by_command["left"]["nats_per_word"] == str(account.rest)
    assert [spend["id"] for spend in by_command["spends"]] == [spend.id for spend in spends]


def loop(folder: Path) -> None:
    """Noise is another each time: the settings and the rows without noise are alike."""
    small = ["--epsilon", 4, "--shape", "user"]
    by_command = command("loop", "posts.parquet", "--topics", "topics.toml", *small)
    found = sv.loop.compare_settings(
        "posts.parquet", topics="topics.toml", epsilon=4, shape="user", out=folder / "out"
    )
    assert [row.keys() for row in by_command] == [row.keys() for row in found.rows]
    assert [row["guarantee"] for row in by_command] == [row["guarantee"] for row in found.rows]
    assert by_command[0] == plain(found.rows[0])


def learn_topics(folder: Path) -> None:
    notes = [f"{one} {other}" for one in WORDS for other in WORDS[:3]] * 30
    holders = dict.fromkeys(("ada", "ben", "cy"), notes)
    ledger = folder / "ledger"
    with pytest.warns(UserWarning, match="held by several holders"):
        counted = sv.count_together(holders, words=WORDS, epsilon=8, what="pairs", ledger=ledger)
    (folder / "pairs.counts").write_bytes(counted.to_bytes())
    asked = [folder / "pairs.counts", "--topics", 3, "--out", folder / "model"]
    by_command = command("learn", "topics", *asked)
    found = counted_topics(counted, 3)
    assert by_command["topics"] == plain(found.top(8))
    assert by_command["dimensions"] == found.dimensions


def learn_audit(folder: Path) -> None:
    rows = [{"text": f"word{k % 7} word{k % 5}", "label": "ab"[k % 2]} for k in range(80)]
    with (folder / "texts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ("text", "label"))
        writer.writeheader()
        writer.writerows(rows)
    by_command = command("learn", "audit", folder / "texts.csv")
    found = audit_training(rows)
    assert by_command["holds"] is found.holds
    assert by_command["not attacked"] == found.unread
    read = [(each["texts"], each["words"]) for each in by_command["openings"]]
    assert read == [(each.documents, each.words) for each in found.readings]


def topics_list(_: Path) -> None:
    by_command = {row["topic"]: row for row in command("topics", "list")}
    found = {topic.name: topic for topic in sv.topics.shipped_catalogue()}
    assert by_command.keys() == found.keys()
    for name, row in by_command.items():
        assert (row["domain"], row["sensitive"]) == (found[name].domain, found[name].sensitive)


def topics_train(folder: Path) -> None:
    asked = ["--topics", 4, "--iterations", 8, "--workers", 1]
    out = folder / "model"
    by_command = command("topics", "train", "background.parquet", *asked, "--out", out)
    parameters = LdaParameters(topics=4, iterations=8, workers=1)
    found = train_lda(open_documents("background.parquet"), parameters)
    assert by_command["fingerprint"] == found.fingerprint == load_model(out).fingerprint


def topics_show(_: Path) -> None:
    by_command, found = command("topics", "show", "model"), load_model(Path("model"))
    assert isinstance(found, LdaModel)
    assert by_command["fingerprint"] == found.fingerprint
    shown = [[word["word"] for word in each["words"]] for each in by_command["topics"]]
    assert shown == [[word for word, _ in words] for words in found.top_words()]


def topics_import(folder: Path) -> None:
    (folder / "vectors.txt").write_text("2 3\nloan 1 0 0\nsea 0 1 0\n", encoding="utf-8")
    asked = [folder / "vectors.txt", "--format", "word2vec", "--out", folder / "out"]
    by_command = command("topics", "import", *asked)
    assert by_command["fingerprint"] == import_model(folder / "vectors.txt", "word2vec").fingerprint


def topics_catalogue(folder: Path) -> None:
    command("topics", "catalogue", "model", "--out", folder / "own.toml")
    found = load_model(Path("model"))
    assert isinstance(found, LdaModel)
    assert sv.topics.Catalogue.load(folder / "own.toml") == catalogue_of(found)


def topics_match(_: Path) -> None:
    by_command, model = (
        command("topics", "match", "model", "topics.toml"),
        load_model(Path("model")),
    )
    assert isinstance(model, LdaModel)
    found = sv.topics.match_model(sv.topics.Catalogue.load("topics.toml"), model)
    assert by_command["matches"] == plain([vars(fit) for fit in found.fits])
    assert by_command["unmatched"] == plain([vars(topic) for topic in found.unmatched])


def filled(folder: Path) -> Path:
    """A sheet that seven judges have answered, not all alike."""
    sheet = folder / "sheet.csv"
    command("topics", "judge", "export", "topics.toml", "--out", sheet)
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        row["sensitive"], row["domain"] = ("yes", "no")[number % 3 == 0], "medicine"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return sheet


def judge_export(folder: Path) -> None:
    sheet = folder / "sheet.csv"
    command("topics", "judge", "export", "topics.toml", "--out", sheet)
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        by_command = list(csv.DictReader(file))
    found = topic_sheet(sv.topics.Catalogue.load("topics.toml"))
    assert by_command == [{name: str(value) for name, value in row.items()} for row in found]


def judge_import(folder: Path) -> None:
    sheet = filled(folder)
    by_command = command("topics", "judge", "import", "topics.toml", sheet, "--out", folder / "j")
    catalogue = sv.topics.Catalogue.load("topics.toml")
    votes = topic_votes(read_votes([sheet]).votes, catalogue)
    found = study.judged_topics(catalogue, votes)
    assert by_command["topics"] == plain([each.row() for each in found])


def judge_agreement(folder: Path) -> None:
    sheet = filled(folder)
    by_command = command("topics", "judge", "agreement", sheet)
    found = study.agreement(read_votes([sheet]).votes)
    assert by_command["table"] == plain([row.row() for row in found.table])
    assert by_command["kappa"] == pytest.approx(found.kappa.kappa)


SAME: Mapping[str, Callable[[Path], None]] = {
    "simulate": simulate,
    "describe": describe,
    "count": count_words,
    "evaluate": evaluate,
    "alerts": alerts,
    "release": release,
    "analyse": analyse,
    "audit": audit,
    "statement": statement,
    "ledger show": ledger_show,
    "loop": loop,
    "learn topics": learn_topics,
    "learn audit": learn_audit,
    "topics list": topics_list,
    "topics train": topics_train,
    "topics show": topics_show,
    "topics import": topics_import,
    "topics catalogue": topics_catalogue,
    "topics match": topics_match,
    "topics judge export": judge_export,
    "topics judge import": judge_import,
    "topics judge agreement": judge_agreement,
}


@pytest.mark.parametrize("name", SAME)
def test_the_command_and_python_give_one_answer(name: str, tmp_path: Path) -> None:
    SAME[name](tmp_path)


def test_every_pair_is_asked() -> None:
    pairs = {name for name, each in COUNTERPARTS.items() if isinstance(each, Counterpart)}
    assert pairs == SAME.keys() | ELSEWHERE.keys()
    root = Path(__file__).parents[2]
    assert all((root / file).exists() for file in ELSEWHERE.values())


def test_rows_of_another_person_s_columns_are_guessed_by_every_verb(tmp_path: Path) -> None:
    """As the commands do: of a release and a loop the columns too, with a warning."""
    posts = pq.read_table("posts.parquet").to_pandas()
    posts.columns = ["author", "created_at", "body"]
    posts.to_csv(tmp_path / "export.csv", index=False)
    asked = [tmp_path / "export.csv", "--vocabulary", "words.txt", "--epsilon", 4, "-N", 2]
    asked += ["--ledger", tmp_path / "ledger"]
    command("release", *asked, "--out", tmp_path / "by-command")
    options: dict[str, Any] = {"words": "words.txt", "epsilon": 4, "precision": 2}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = sv.release_counts(tmp_path / "export.csv", **options, ledger=tmp_path / "ledger")
    said = " ".join(str(each.message) for each in told)
    assert "text = body" in said
    assert "the column author says whose each document is" in said
    by_command = sv.load_release(tmp_path / "by-command")
    assert np.array_equal(made.counts.toarray(), by_command.counts.toarray())
