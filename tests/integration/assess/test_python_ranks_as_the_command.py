"""`assess_posts` and `Ranking.explain` answer as ``sottovoce assess`` and ``explain`` do."""

import json
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sottovoce as sv
from sottovoce.assess import Ranking
from sottovoce.assess.explanation import Explanation
from sottovoce.cli._app import app
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics import LdaParameters, VoiceParameters, WordChoice, train_lda, train_voice
from sottovoce.topics.space import Mode

USER = "u07"
TOPIC = "pregnancy"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small community, and an adversary's models of its background."""
    folder = tmp_path_factory.mktemp("world")
    community = sv.simulate(users=60, weeks=3, seed=5, background_documents=300, folder=folder)
    texts = community.background["text"].to_pylist()
    lda = train_lda(
        texts, LdaParameters(topics=30, iterations=40, workers=1), words=WordChoice(min_texts=2)
    )
    lda.save(folder / "lda")
    catalogue = sv.topics.Catalogue.load(folder / "topics.toml")
    sv.topics.match_model(catalogue, lda).without_unmatched().save(folder / "matched.toml")
    train_voice(texts, VoiceParameters()).save(folder / "voice")
    return folder


def command(*words: object) -> dict[str, Any]:
    done = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def ranked_by_command(folder: Path, *words: object) -> list[dict[str, Any]]:
    out = folder / "by-command.parquet"
    command("assess", *words, "--out", out)
    rows: list[dict[str, Any]] = pq.read_table(out).to_pylist()
    return rows


def first_of(ranking: Ranking) -> tuple[str, str]:
    """Who stands first, and by which topic."""
    row = ranking.table.slice(0, 1).to_pylist()[0]
    return row["user"], row["topic"]


def check_explained(ranking: Ranking, *words: object, **options: Any) -> dict[str, Any]:  # noqa: ANN401 - passed on
    """Python and the command explain alike who stands first; what both say."""
    user, topic = first_of(ranking)
    by_command = explained_by_command(*words, "--user", user, "--topic", topic)
    assert as_the_command_says(ranking.explain(user, topic, **options)) == by_command
    return by_command


OWN, MATCHED = {"topics": "topics.toml"}, {"topics": "matched.toml", "model": "lda"}
SETTINGS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "topics": OWN,
    "lda": MATCHED,
    "voice": {"model": "voice"},
    "recommended": {"measures": "recommended"},
    "voice without a model": {"measures": "voice-t"},
    "paper's mode": {"measures": "bow-dt,ent", "mode": "paper"},
}


def words_of(options: dict[str, Any]) -> list[str]:
    """The same options as they are typed."""
    typed = {"--measure" if name == "measures" else f"--{name}": options[name] for name in options}
    return [each for pair in typed.items() for each in pair]


@pytest.mark.filterwarnings("ignore:background learnt")
@pytest.mark.parametrize("asked", SETTINGS)
def test_the_same_question_gives_the_same_ranks(
    asked: str, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world)
    options, words = SETTINGS[asked], words_of(SETTINGS[asked])
    ranking = sv.assess_posts("posts.parquet", **options)
    assert ranking.table.to_pylist() == ranked_by_command(tmp_path, "posts.parquet", *words)
    assert list(ranking.summary) == command("assess", "posts.parquet", *words)["bands"]


@pytest.mark.filterwarnings("ignore:background learnt")
@pytest.mark.parametrize("first", ["voice-t,bow-t", "ent"])
def test_a_state_is_ranked_as_it_was_last_by_either(
    first: str, world: Path, tmp_path: Path
) -> None:
    """By measure and topic; the background that was learnt for a state serves both."""
    posts, state = world / "posts.parquet", tmp_path / "my.state"
    made = sv.assess_posts(posts, measures=first, topic=[TOPIC], state=state)
    by_command = ranked_by_command(tmp_path, "--state", state)
    assert made.table.to_pylist() == by_command
    assert sv.assess_posts(None, state=state).table.to_pylist() == by_command


def test_columns_and_encoding_are_guessed_and_kept_alike(world: Path, tmp_path: Path) -> None:
    posts = pq.read_table(world / "posts.parquet").to_pandas()
    posts["text"] += " caf\u00e9"
    posts.columns = ["author", "created_at", "body"]
    export, state = tmp_path / "export.csv", tmp_path / "my.state"
    posts.to_csv(export, index=False, sep=";", encoding="windows-1252")
    by_command = ranked_by_command(tmp_path, export)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = sv.assess_posts(export, state=state)
    said = " ".join(str(each.message) for each in told)
    assert all(what in said for what in ("windows-1252", "a semicolon", "user = author"))
    assert made.table.to_pylist() == by_command
    kept = json.loads((tmp_path / "my.state.reading.json").read_text(encoding="utf-8"))
    assert kept["columns"]["text"] == "body"


def test_who_stands_for_nobody_is_said_alike() -> None:
    rows = [("[deleted]", "2024-01-01", "my loan")] * 3
    with pytest.raises(InputError, match="every author is deleted, anonymous or a bot"):
        sv.assess_posts(rows)


KINDS = {
    "path": lambda path: path,
    "arrow": pq.read_table,
    "pandas": pd.read_parquet,
    "polars": pl.read_parquet,
    "rows": lambda path: pq.read_table(path).to_pylist(),
    "tuples": lambda path: [tuple(row.values()) for row in pq.read_table(path).to_pylist()],
    "generator": lambda path: (row for row in pq.read_table(path).to_pylist()),
}
MEASURED: dict[str, dict[str, Any]] = {
    "bow-t": {},
    "keyword-kinds": {"measures": "keyword-kinds", **OWN},
    "keyword-kinds-t": {"measures": "keyword-kinds-t", **OWN},
    "ent": {"measures": "ent", **OWN},
    "lda-dt": {"measures": "lda-dt", **MATCHED},
    "voice-t": {"measures": "voice-t", "model": "voice"},
    "voice-t learnt": {"measures": "voice-t"},
    "bow-dt of the paper": {"measures": "bow-dt", "mode": "paper", **OWN},
}


def as_the_command_says(found: Explanation) -> dict[str, Any]:
    """The parts of an explanation that the command prints as JSON."""
    return {
        **asdict(found.position),
        "posts": [(each.number, each.adds, each.strength) for each in found.posts],
        "words": [asdict(each) for each in found.words],
        "interest": None if found.interest is None else asdict(found.interest),
        "without": None if found.without is None else asdict(found.without),
        "leaving": None if found.leaving is None else as_json(asdict(found.leaving)),
        "band": found.band,
    }


def as_json(value: object) -> object:
    return json.loads(json.dumps(value))


def explained_by_command(*words: object) -> dict[str, Any]:
    found = command("explain", *words)
    names = ("score", "rank", "users", "words", "interest", "without", "leaving", "band")
    posts = [(each["number"], each["adds"], each["strength"]) for each in found["posts"]]
    return {**{name: found[name] for name in names}, "posts": posts}


@pytest.mark.filterwarnings("ignore:background learnt")
@pytest.mark.parametrize("measure", MEASURED)
def test_every_measure_is_explained_as_the_command_does(
    measure: str, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world)
    options, words = MEASURED[measure], words_of(MEASURED[measure])
    ranking = sv.assess_posts("posts.parquet", **options)
    number = check_explained(ranking, "posts.parquet", *words)["posts"][0][0]
    check_explained(ranking, "posts.parquet", *words, "--without", number, without=[number])


@pytest.mark.parametrize("kind", KINDS)
def test_posts_of_every_kind_are_explained(kind: str, world: Path) -> None:
    ranking = sv.assess_posts(KINDS[kind](world / "posts.parquet"))
    check_explained(ranking, world / "posts.parquet")


@pytest.mark.filterwarnings("ignore:background learnt")
@pytest.mark.parametrize("measures", ["bow-t,ent", "voice-t,bow-t", "ent"])
def test_a_ranking_is_explained_by_the_measure_that_the_command_takes(
    measures: str, world: Path, tmp_path: Path
) -> None:
    posts, state = world / "posts.parquet", tmp_path / "my.state"
    ranking = sv.assess_posts(posts, measures=measures, state=state)
    check_explained(ranking, posts, "--state", state)


@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_a_state_of_several_files_is_explained_with_all_of_them(
    mode: Mode, world: Path, tmp_path: Path
) -> None:
    posts = pq.read_table(world / "posts.parquet")
    state = tmp_path / "my.state"
    files = [tmp_path / "first.parquet", tmp_path / "second.parquet"]
    for number, part in enumerate((posts.slice(0, 200), posts.slice(200))):
        pq.write_table(part, files[number])
    sv.assess_posts(files[0], measures="bow-d", mode=mode, state=state)
    ranking = sv.assess_posts(files[1], state=state)
    words = (*files, "--measure", "bow-d", "--state", state)
    assert check_explained(ranking, *words, posts=files)["rank"] == 1
    kept = sv.assess_posts(None, state=state)
    check_explained(kept, *words, posts=files)
    with pytest.raises(ParameterError, match="give the posts it was made from"):
        kept.explain(*first_of(kept))


def test_an_export_that_repeats_posts_is_noticed_and_left_out_alike(
    world: Path, tmp_path: Path
) -> None:
    posts = pq.read_table(world / "posts.parquet").sort_by("time")
    early = tmp_path / "early.parquet"
    pq.write_table(posts.slice(0, 100), early)
    for name in ("command", "python", "twice"):
        sv.assess_posts(early, state=tmp_path / name)
    out = ["--only-newer", "--out", tmp_path / "by-command.parquet"]
    command("assess", world / "posts.parquet", "--state", tmp_path / "command", *out)
    later = sv.assess_posts(world / "posts.parquet", state=tmp_path / "python", only_newer=True)
    by_command = pq.read_table(tmp_path / "by-command.parquet").to_pylist()
    assert later.table.to_pylist() == by_command
    with pytest.warns(UserWarning, match="POSTS ARE NO LATER THAN THE NEWEST"):
        sv.assess_posts(world / "posts.parquet", state=tmp_path / "twice")
    with pytest.raises(ParameterError, match="only_newer needs a state"):
        sv.assess_posts(posts, only_newer=True)
