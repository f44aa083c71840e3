"""assess, explain, alerts and forget as their users meet them."""

import json
import stat
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.communities import random_posts

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics.lda.model import LdaModel

Run = Callable[..., tuple[int, str, str]]
TOPICS = """
[[topic]]
name = "debts"
domain = "money"
sensitive = true
words = ["debt", "loan", "bank"]
[[topic]]
name = "depression"
domain = "health"
sensitive = true
words = ["prozac", "sad", "tired"]
[[topic]]
name = "sleep"
domain = "health"
words = ["tired", "baby"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pq.write_table(random_posts(1, users=30, posts=300), tmp_path / "posts.parquet")
    (tmp_path / "topics.toml").write_text(TOPICS)
    return tmp_path


def assess(
    run: Run, folder: Path, *options: object, posts: str | None = "posts.parquet"
) -> dict[str, object]:
    given = [] if posts is None else [folder / posts]
    code, out, err = run("assess", *given, "--out", folder / "ranks.parquet", "--json", *options)
    assert (code, err) == (0, ""), err
    shown: dict[str, object] = json.loads(out)
    return shown


def with_topics(folder: Path) -> tuple[str, Path]:
    return "--topics", folder / "topics.toml"


def test_ranks_are_written_for_the_owner_only_and_no_user_is_named(run: Run, folder: Path) -> None:
    code, out, err = run(
        "assess",
        folder / "posts.parquet",
        *with_topics(folder),
        "--measure",
        "bow,ent,diff-priv",
        "--out",
        folder / "ranks.parquet",
    )
    assert (code, err) == (0, "")
    assert "30 users, 300 posts" in out
    shown = out.replace(str(folder), "")
    assert not any(f"u{number}" in shown for number in range(30))
    ranks = pq.read_table(folder / "ranks.parquet")
    assert ranks.column_names == ["measure", "user", "topic", "score", "rank", "band"]
    assert set(ranks["topic"].to_pylist()) == {"debts", "depression"}
    assert len(ranks) == 3 * 2 * 30
    assert stat.S_IMODE((folder / "ranks.parquet").stat().st_mode) == 0o600


def test_users_are_named_when_asked_for(run: Run, folder: Path) -> None:
    shown = assess(run, folder, *with_topics(folder), "--measure", "bow", "--show-users", 2)
    ranks = pq.read_table(folder / "ranks.parquet").to_pylist()
    most = shown["most_exposed"]
    assert isinstance(most, list)
    assert [row["user"] for row in most] == [ranks[i]["user"] for i in (0, 1, 30, 31)]


def test_the_only_user_of_a_word_is_valid_json(run: Run, folder: Path) -> None:
    posts = random_posts(1, users=5, posts=20)
    posts = posts.set_column(2, posts.schema.field(2), pa.array(["debt", *["x"] * 19]))
    pq.write_table(posts, folder / "rare.parquet")
    shown = assess(
        run,
        folder,
        *with_topics(folder),
        "--measure",
        "diff-priv",
        "--topic",
        "debts",
        "--show-users",
        1,
        posts="rare.parquet",
    )
    assert shown["most_exposed"] == [
        {
            "measure": "diff-priv",
            "user": posts["user"][0].as_py(),
            "topic": "debts",
            "score": None,
            "rank": 1,
            "band": "rest",
        }
    ]


def test_a_state_updated_with_new_posts_ranks_like_all_posts_at_once(
    run: Run, folder: Path
) -> None:
    posts = pq.read_table(folder / "posts.parquet").sort_by("time")
    pq.write_table(posts.slice(0, 200), folder / "old.parquet")
    pq.write_table(posts.slice(200), folder / "new.parquet")
    assess(run, folder, *with_topics(folder))
    whole = (folder / "ranks.parquet").read_bytes()
    state = ("--state", folder / "s")
    assess(run, folder, *with_topics(folder), *state, posts="old.parquet")
    assert (folder / "ranks.parquet").read_bytes() != whole
    assess(run, folder, *state, posts="new.parquet")
    assert (folder / "ranks.parquet").read_bytes() == whole
    assess(run, folder, *state, posts=None)
    assert (folder / "ranks.parquet").read_bytes() == whole
    assert stat.S_IMODE((folder / "s").stat().st_mode) == 0o600


def test_parts_scored_apart_are_merged(run: Run, folder: Path) -> None:
    posts = pq.read_table(folder / "posts.parquet")
    assess(run, folder, *with_topics(folder))
    whole = (folder / "ranks.parquet").read_bytes()
    for part in range(3):
        pq.write_table(posts.slice(100 * part, 100), folder / f"{part}.parquet")
        assess(
            run,
            folder,
            *with_topics(folder),
            "--state",
            folder / f"s{part}",
            posts=f"{part}.parquet",
        )
    assess(
        run, folder, "--state", folder / "s0", "--merge", folder / "s1", "--merge", folder / "s2",
        posts=None,
    )  # fmt: skip
    assert (folder / "ranks.parquet").read_bytes() == whole


def test_the_same_file_is_folded_in_once(run: Run, folder: Path) -> None:
    state = ("--state", folder / "s")
    assess(run, folder, *with_topics(folder), *state)
    before = (folder / "s").read_bytes()
    code, out, err = run(
        "assess", folder / "posts.parquet", *state, "--out", folder / "r.csv", "--json"
    )
    assert (code, err) == (0, "these posts are in the state already: nothing was added\n")
    assert json.loads(out)["posts"] == 300
    assert (folder / "s").read_bytes() == before


@pytest.fixture
def model(folder: Path) -> Path:
    """A topic model of three dimensions, and a catalogue that is matched to it."""
    words = Vocabulary.public(("debt", "loan", "bank", "prozac", "sad", "tired", "baby", "clinic"))
    phi = np.full((8, 3), 0.02)
    phi[:3, 0] = phi[3:6, 1] = phi[5:7, 2] = 1
    made = LdaModel(
        (phi / phi.sum(axis=0)).astype(np.float32), np.full(3, 0.1), words, TokenRules()
    )
    made.save(folder / "model")
    lines = TOPICS.splitlines()
    for number, place in enumerate([i for i, line in enumerate(lines) if "words" in line]):
        lines[place] += f"\ndimensions = [{number}]"
    matched = f'model = "{made.fingerprint}"\n' + "\n".join(lines)
    (folder / "matched.toml").write_text(matched)
    return folder / "model"


def test_a_model_adds_its_measures(run: Run, folder: Path, model: Path) -> None:
    shown = assess(run, folder, "--model", model, "--topics", folder / "matched.toml")
    bands = shown["bands"]
    assert isinstance(bands, list)
    assert len({row["measure"] for row in bands}) == 10
    ranks = pq.read_table(folder / "ranks.parquet").to_pylist()
    lda = {row["user"]: row["score"] for row in ranks if row["measure"] == "lda-dt"}
    assert len(set(lda.values())) > 10


def test_a_state_with_a_model_needs_it_for_new_posts(run: Run, folder: Path, model: Path) -> None:
    posts = pq.read_table(folder / "posts.parquet")
    pq.write_table(posts.slice(0, 200), folder / "old.parquet")
    pq.write_table(posts.slice(200), folder / "new.parquet")
    given = ("--measure", "lda-dt", "--state", folder / "s", "--out", folder / "ranks.parquet")
    options = ("--model", model, "--topics", folder / "matched.toml")
    assert run("assess", folder / "old.parquet", *given, *options)[0] == 0
    before = (folder / "s").read_bytes()
    (folder / "ranks.parquet").unlink()
    err = refused(run, folder, "assess", folder / "new.parquet", *given)
    assert "new posts need that model too" in err
    assert (folder / "s").read_bytes() == before
    assert run("assess", folder / "new.parquet", *given, "--model", model)[0] == 0
    updated = (folder / "ranks.parquet").read_bytes()
    assert run("assess", folder / "posts.parquet", *given[:2], *given[4:], *options)[0] == 0
    assert (folder / "ranks.parquet").read_bytes() == updated


def test_a_model_and_a_catalogue_that_do_not_fit_are_refused(
    run: Run, folder: Path, model: Path
) -> None:
    given = ("--model", model, "--measure", "lda", "--out", folder / "ranks.parquet")
    err = refused(run, folder, "assess", folder / "posts.parquet", *with_topics(folder), *given)
    assert "the catalogue is not matched to a model" in err
    matched = (folder / "matched.toml").read_text()
    (folder / "matched.toml").write_text(f'model = "{"0" * 64}"' + matched[matched.index("\n") :])
    err = refused(
        run, folder, "assess", folder / "posts.parquet", "--topics", folder / "matched.toml", *given
    )
    assert "the catalogue is matched to the model 000000000000, got the model" in err


def refused(run: Run, folder: Path, *arguments: object) -> str:
    code, out, err = run(*arguments)
    assert (code, out) == (2, ""), (code, out, err)
    assert err.count("\n") == 1 or "Usage" in err
    assert not (folder / "ranks.parquet").exists()
    return err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--measure", "guess"), "measure must be some of recommended, paper, all; ent"),
        (("--measure", "lda-dt"), "the measure lda-dt needs a model of the space lda, got none"),
        (("-k", 0), "k must be > 0 and <= 1, got 0.0"),
        (("-k", 1.5), "k must be > 0 and <= 1, got 1.5"),
        (("-m", 0), "m must be >= 1, got 0"),
        (("--bucket", "1h"), "bucket must be a number of days, weeks or months"),
        (("--mode", "wrong"), "mode must be one of corrected, paper"),
        (("--topic", "weather"), "topic must be one of debts, depression, sleep, got 'weather'"),
    ],
)
def test_options_out_of_bounds_are_refused(
    run: Run, folder: Path, options: tuple[object, ...], message: str
) -> None:
    given = ("--measure", "bow-dt", *options) if options[0] != "--measure" else options
    err = refused(
        run,
        folder,
        "assess",
        folder / "posts.parquet",
        *with_topics(folder),
        *given,
        "--state",
        folder / "s",
        "--out",
        folder / "ranks.parquet",
    )
    assert message in err
    assert not (folder / "s").exists()


@pytest.mark.parametrize(
    ("posts", "message"),
    [
        (
            {"user": ["a", "a"], "time": [1e9, 1e9], "text": ["debt", "loan"]},
            "at least 2 users, got 1",
        ),
        ({"user": ["a"], "text": ["debt"]}, "has no column 'time' for time"),
        ({"user": ["a", "b"], "time": [None, "soon"], "text": ["x", "y"]}, "no usable row"),
        ({"user": [], "time": [], "text": []}, "no usable row"),
    ],
)
def test_posts_that_cannot_be_ranked_are_refused(
    run: Run, folder: Path, posts: dict[str, list[object]], message: str
) -> None:
    pq.write_table(pa.table(posts), folder / "odd.parquet")
    err = refused(
        run, folder, "assess", folder / "odd.parquet", *with_topics(folder), "--measure", "bow-t",
        "--out", folder / "ranks.parquet",
    )  # fmt: skip
    assert message in err


def test_empty_posts_score_nothing(run: Run, folder: Path) -> None:
    posts = {"user": ["a", "b"], "time": [1e9, 1e9], "text": ["", "debt"]}
    pq.write_table(pa.table(posts), folder / "odd.parquet")
    assess(run, folder, *with_topics(folder), "--measure", "bow", posts="odd.parquet")
    ranks = pq.read_table(folder / "ranks.parquet").to_pylist()
    assert [(row["user"], row["rank"]) for row in ranks[:2]] == [("b", 1), ("a", 2)]
    assert ranks[1]["score"] == 0


def test_a_state_refuses_what_it_was_not_made_with(run: Run, folder: Path) -> None:
    state = ("--state", folder / "s", "--out", folder / "ranks.parquet")
    assess(run, folder, *with_topics(folder), "--measure", "bow-t", *state[:2])
    (folder / "ranks.parquet").unlink()
    (folder / "other.toml").write_text(TOPICS.replace("loan", "lend"))
    cases = {
        ("--bucket", "1d"): "made with the bucket 1w, got 1d",
        ("--mode", "paper"): "made with the mode corrected, got paper",
        ("-m", 13): "m must be <= 12, the number of buckets the state keeps, got 13",
        ("--topics", folder / "other.toml"): "the catalogue is not the one the state was made with",
        ("--measure", "ent"): "does not hold which words were used",
    }
    for options, message in cases.items():
        given = options if options[0] == "--measure" else ("--measure", "bow-t", *options)
        assert message in refused(run, folder, "assess", *state, *given)


def test_nothing_to_rank_is_said(run: Run, folder: Path) -> None:
    out = ("--out", folder / "ranks.parquet")
    assert "there is nothing to rank" in refused(run, folder, "assess", *with_topics(folder), *out)


def test_an_explanation_shows_numbers_and_no_text_unless_asked(run: Run, folder: Path) -> None:
    posts = pq.read_table(folder / "posts.parquet")
    user = posts["user"][0].as_py()
    given = (
        "explain", folder / "posts.parquet", *with_topics(folder), "--user", user, "--topic",
        "depression", "--measure", "bow-dt", "--without", 1, "--json",
    )  # fmt: skip
    code, out, err = run(*given)
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert "text" not in found["posts"][0]
    assert found["users"] == 30
    parts = found["interest"]["persistence"] - found["interest"]["breadth"]
    # Scores stand on a grid, so that equal ones tie.
    assert abs(found["score"] - parts) <= 2**-41
    code, out, _ = run(*given, "--show-text")
    first = json.loads(out)["posts"][0]
    assert first["text"] == posts["text"][first["number"] - 1].as_py()
    pq.write_table(posts.slice(1), folder / "rest.parquet")
    assess(
        run, folder, *with_topics(folder), "--measure", "bow-dt", "--topic", "depression",
        posts="rest.parquet",
    )  # fmt: skip
    ranks = pq.read_table(folder / "ranks.parquet").to_pylist()
    wanted = next(row for row in ranks if row["user"] == user)
    assert (found["without"]["score"], found["without"]["rank"]) == (
        wanted["score"],
        wanted["rank"],
    )


def test_an_explanation_can_take_the_others_from_a_state(run: Run, folder: Path) -> None:
    assess(run, folder, *with_topics(folder), "--state", folder / "s")
    before = (folder / "s").read_bytes()
    given = ("--user", "u1", "--topic", "debts", "--measure", "ent", "--without", 0, "--json")
    for state in (("--state", folder / "s"), with_topics(folder)):
        err = refused_explain(run, "explain", folder / "posts.parquet", *state, *given)
        assert "got 1 that are not theirs" in err
    answers = [
        run("explain", folder / "posts.parquet", *state, *given[:6], "--json")
        for state in (("--state", folder / "s"), with_topics(folder))
    ]
    assert answers[0] == answers[1]
    assert answers[0][0] == 0
    assert (folder / "s").read_bytes() == before


def refused_explain(run: Run, *arguments: object) -> str:
    code, _, err = run(*arguments)
    assert code == 2
    return err


def test_an_explanation_for_people_names_posts_by_number(run: Run, folder: Path) -> None:
    user = pq.read_table(folder / "posts.parquet")["user"][0].as_py()
    code, out, _ = run(
        "explain", folder / "posts.parquet", *with_topics(folder), "--user", user, "--topic",
        "depression", "--measure", "bow", "--without", 1,
    )  # fmt: skip
    assert code == 0
    for words in ("Position", "persistence", "A word adds to", "What if"):
        assert words in out


def test_one_measure_is_explained_at_a_time(run: Run, folder: Path) -> None:
    given = ("--user", "u1", "--topic", "debts", "--measure", "all", *with_topics(folder))
    err = refused_explain(run, "explain", folder / "posts.parquet", *given)
    assert err == "explain takes one measure at a time, got all.\n"


def test_alerts_are_given_once_and_kept_private(run: Run, folder: Path) -> None:
    state = folder / "s"
    assess(run, folder, *with_topics(folder), "--measure", "bow-t", "--state", state)
    code, out, _ = run("alerts", state, "--top", "10", "--out", folder / "a.parquet", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["entered"] == []
    assert {row["change"] for row in found["changes"]} == {"entered"}
    listed = pq.read_table(folder / "a.parquet")
    assert len(listed) == sum(row["users"] for row in found["changes"]) > 0
    for path in (folder / "a.parquet", folder / "s.alerts"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    code, out, _ = run("alerts", state, "--top", "10")
    assert (code, out) == (0, "Nobody entered or left a band since the last check.\n")
    code, out, _ = run("alerts", state, "--top", "20", "--show-users", 3, "--json")
    assert len(json.loads(out)["entered"]) == 3


def test_alerts_refuse_what_is_no_percentage(run: Run, folder: Path) -> None:
    assess(run, folder, *with_topics(folder), "--state", folder / "s")
    assert "--top must look like 1,5,10" in refused_explain(
        run, "alerts", folder / "s", "--top", "x"
    )
    err = refused_explain(run, "alerts", folder / "s", "--top", "100")
    assert "a band must be > 0 and < 100 percent, got 100" in err


def test_a_forgotten_user_is_in_neither_file(run: Run, folder: Path) -> None:
    state = folder / "s"
    assess(run, folder, *with_topics(folder), "--measure", "bow", "--state", state)
    run("alerts", state, "--top", "50")
    user = pq.read_table(folder / "s.alerts")["user"][0].as_py()
    code, out, _ = run("forget", state, "--user", user, "--json")
    assert (code, json.loads(out)) == (0, {"erased": 1, "users_left": 29})
    for path in (state, folder / "s.alerts"):
        assert user not in pq.read_table(path)["user"].to_pylist()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "the user is not in this state" in refused_explain(run, "forget", state, "--user", user)
    assert run("forget", state, "--user", "u1" if user != "u1" else "u2")[0] == 0
    assert len(pq.read_table(state)) == 28


def test_a_single_post_is_deleted_from_a_state_that_keeps_posts(run: Run, folder: Path) -> None:
    posts = pq.read_table(folder / "posts.parquet")
    user, time = posts["user"][0].as_py(), posts["time"][0].as_py()
    state = folder / "s"
    assess(run, folder, *with_topics(folder), "--state", state, "--keep-posts")
    code, out, err = run("forget", state, "--user", user, "--post", time.isoformat(), "--json")
    assert (code, err, json.loads(out)) == (0, "", {"posts_left": 299})
    assess(run, folder, "--state", state, posts=None)
    deleted = (folder / "ranks.parquet").read_bytes()
    pq.write_table(posts.slice(1), folder / "rest.parquet")
    assess(run, folder, *with_topics(folder), posts="rest.parquet")
    assert (folder / "ranks.parquet").read_bytes() == deleted
    err = refused_explain(run, "forget", state, "--user", user, "--post", time.isoformat())
    assert "the user has no post at 1 of the times given" in err
    err = refused_explain(run, "forget", state, "--user", user, "--post", "noon")
    assert "--post must be a time such as" in err
    given = ("--user", user, "--user", "x", "--post", time.isoformat())
    assert "needs exactly 1 --user, got 2" in refused_explain(run, "forget", state, *given)


def test_a_single_post_is_not_deleted_from_a_state_without_posts(run: Run, folder: Path) -> None:
    assess(run, folder, *with_topics(folder), "--state", folder / "s")
    err = refused_explain(run, "forget", folder / "s", "--user", "u1", "--post", "2024-01-01")
    assert "this state does not keep posts" in err


def test_bands_are_worth_a_lift_or_people_of_a_hundred_for_a_share_that_is_named(
    run: Run, folder: Path
) -> None:
    state = ("--state", folder / "s.state")
    shown = assess(run, folder, *with_topics(folder), "--measure", "bow-t", *state)
    assert "expected_precision" not in shown
    lifts = shown["lifts"]
    assert isinstance(lifts, dict)
    assert list(lifts) == ["bow-t", "posts", "weeks"]
    assert lifts["bow-t"]["top 5%"].keys() == {"lift", "low", "high"}
    ranked = ("assess", *state, "--topic", "debts", "--measure", "bow-t")
    code, out, _ = run(*ranked)
    told = " ".join(out.split())
    assert (code, "In a test on bloggers, how many times as often" in told) == (0, True)
    assert "the number of posts alone" in told
    code, out, _ = run(*ranked, "--concerned", "2%")
    assert (code, "If a topic concerns 2 in 100 here" in " ".join(out.split())) == (0, True)
    alerted = run(
        "alerts", folder / "s.state", "--measure", "bow-t", "--concerned", "0.02", "--json"
    )
    found = json.loads(alerted[1])
    assert found["lifts"]["bow-t"]["top 5%"]["of_100"] > 2
    assert all("expected precision" not in row for row in found["changes"])
    code, _, err = run(*ranked, "--concerned", "40%")
    assert (code, "at most 0.1, got 0.4" in err) == (2, True)
