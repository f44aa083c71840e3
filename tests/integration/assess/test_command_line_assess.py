"""assess, explain, alerts and forget as their users meet them."""

import json
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import answer
from support.commands import refused as refused_with
from support.communities import random_posts
from support.shown import Run

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics.lda.model import LdaModel

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
OUT = "--out ranks.parquet"
GIVEN = "--topics topics.toml"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    posts = random_posts(1, users=30, posts=300)
    pq.write_table(posts, "posts.parquet")
    by_time = posts.sort_by("time")
    pq.write_table(by_time.slice(0, 200), "old.parquet")
    pq.write_table(by_time.slice(200), "new.parquet")
    Path("topics.toml").write_text(TOPICS)
    return tmp_path


def asked(run: Run, words: str) -> Any:  # noqa: ANN401 - any JSON
    out, err = answer(run, f"{words} --json")
    assert not err
    return json.loads(out)


def assess(run: Run, options: str, posts: str = "posts.parquet") -> dict[str, Any]:
    shown: dict[str, Any] = asked(run, f"assess {posts} {OUT} {options}")
    return shown


def refused(run: Run, words: str, message: str) -> None:
    """Refused in a sentence, and no ranks are written."""
    Path("ranks.parquet").unlink(missing_ok=True)
    err = refused_with(run, words, message)
    assert err.count("\n") == 1 or "Usage" in err
    assert not Path("ranks.parquet").exists()


def ranks() -> bytes:
    return Path("ranks.parquet").read_bytes()


def rows_of(path: str = "ranks.parquet") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def is_private(path: str) -> bool:
    return stat.S_IMODE(Path(path).stat().st_mode) == 0o600


def test_ranks_are_written_for_the_owner_only_and_no_user_is_named(run: Run) -> None:
    words = f"assess posts.parquet {GIVEN} --measure bow,ent,diff-priv {OUT}"
    code, out, err = run(*words.split())
    assert (code, err) == (0, "")
    assert "30 users, 300 posts" in out
    assert not any(f"u{number}" in out for number in range(30))
    table = pq.read_table("ranks.parquet")
    assert table.column_names == ["measure", "user", "topic", "score", "rank", "band"]
    assert set(table["topic"].to_pylist()) == {"debts", "depression"}
    assert len(table) == 3 * 2 * 30
    assert is_private("ranks.parquet")


def test_users_are_named_when_asked_for(run: Run) -> None:
    most = assess(run, f"{GIVEN} --measure bow --show-users 2")["most_exposed"]
    found = rows_of()
    assert [row["user"] for row in most] == [found[i]["user"] for i in (0, 1, 30, 31)]


def test_the_only_user_of_a_word_is_valid_json(run: Run) -> None:
    posts = random_posts(1, users=5, posts=20)
    posts = posts.set_column(2, posts.schema.field(2), pa.array(["debt", *["x"] * 19]))
    pq.write_table(posts, "rare.parquet")
    options = f"{GIVEN} --measure diff-priv --topic debts --show-users 1"
    row = {"measure": "diff-priv", "user": posts["user"][0].as_py(), "topic": "debts"}
    shown = assess(run, options, "rare.parquet")
    assert shown["most_exposed"] == [row | {"score": None, "rank": 1, "band": "rest"}]


def test_a_state_updated_with_new_posts_ranks_like_all_posts_at_once(run: Run) -> None:
    assess(run, GIVEN)
    whole = ranks()
    assess(run, f"{GIVEN} --state s", "old.parquet")
    assert ranks() != whole
    for posts in ("new.parquet", ""):
        assess(run, "--state s", posts)
        assert ranks() == whole
    assert is_private("s")


def test_parts_scored_apart_are_merged(run: Run) -> None:
    posts = pq.read_table("posts.parquet")
    assess(run, GIVEN)
    whole = ranks()
    for part in range(3):
        pq.write_table(posts.slice(100 * part, 100), f"{part}.parquet")
        assess(run, f"{GIVEN} --state s{part}", f"{part}.parquet")
    assess(run, "--state s0 --merge s1 --merge s2", "")
    assert ranks() == whole


def test_the_same_file_is_folded_in_once(run: Run) -> None:
    assess(run, f"{GIVEN} --state s")
    before = Path("s").read_bytes()
    code, out, err = run(*["assess", "posts.parquet", "--state", "s", "--out", "r.csv", "--json"])
    assert (code, err) == (0, "these posts are in the state already: nothing was added\n")
    assert json.loads(out)["posts"] == 300
    assert Path("s").read_bytes() == before


@pytest.fixture
def model() -> str:
    """A topic model of three dimensions and a catalogue that is matched to it, as options."""
    words = Vocabulary.public(("debt", "loan", "bank", "prozac", "sad", "tired", "baby", "clinic"))
    phi = np.full((8, 3), 0.02)
    phi[:3, 0] = phi[3:6, 1] = phi[5:7, 2] = 1
    made = LdaModel(
        (phi / phi.sum(axis=0)).astype(np.float32), np.full(3, 0.1), words, TokenRules()
    )
    made.save(Path("model"))
    lines = TOPICS.splitlines()
    for number, place in enumerate([i for i, line in enumerate(lines) if "words" in line]):
        lines[place] += f"\ndimensions = [{number}]"
    Path("matched.toml").write_text(f'model = "{made.fingerprint}"\n' + "\n".join(lines))
    return "--model model --topics matched.toml"


def test_a_model_adds_its_measures(run: Run, model: str) -> None:
    assert len({row["measure"] for row in assess(run, model)["bands"]}) == 10
    assert len({row["score"] for row in rows_of() if row["measure"] == "lda-dt"}) > 10


def test_a_state_with_a_model_needs_it_for_new_posts(run: Run, model: str) -> None:
    assess(run, f"{model} --measure lda-dt --state s", "old.parquet")
    before = Path("s").read_bytes()
    added = f"assess new.parquet --measure lda-dt --state s {OUT}"
    refused(run, added, "new posts need that model too")
    assert Path("s").read_bytes() == before
    assert run(*f"{added} --model model".split())[0] == 0
    updated = ranks()
    assess(run, f"{model} --measure lda-dt")
    assert ranks() == updated


def test_a_model_and_a_catalogue_that_do_not_fit_are_refused(run: Run, model: str) -> None:
    words = f"assess posts.parquet --measure lda {OUT} "
    refused(run, f"{words} --model model {GIVEN}", "the catalogue is not matched to a model")
    matched = Path("matched.toml").read_text()
    Path("matched.toml").write_text(f'model = "{"0" * 64}"' + matched[matched.index("\n") :])
    said = "the catalogue is matched to the model 000000000000, got the model"
    refused(run, words + model, said)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--measure guess", "measure must be some of recommended, paper, all; ent"),
        ("--measure lda-dt", "the measure lda-dt needs a model of the space lda, got none"),
        ("-k 0", "k must be > 0 and <= 1, got 0.0"),
        ("-k 1.5", "k must be > 0 and <= 1, got 1.5"),
        ("-k nan", "k must be > 0 and <= 1, got nan"),
        ("-m 0", "m must be >= 1, got 0"),
        ("--bucket 1h", "bucket must be a number of days, weeks or months"),
        ("--mode wrong", "mode must be one of corrected, paper"),
        ("--topic weather", "topic must be one of debts, depression, sleep, got 'weather'"),
    ],
)
def test_options_out_of_bounds_are_refused(run: Run, options: str, message: str) -> None:
    measure = "" if "--measure" in options else "--measure bow-dt"
    refused(run, f"assess posts.parquet {GIVEN} {measure} {options} --state s {OUT}", message)
    assert not Path("s").exists()


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
    run: Run, posts: dict[str, list[object]], message: str
) -> None:
    pq.write_table(pa.table(posts), "odd.parquet")
    refused(run, f"assess odd.parquet {GIVEN} --measure bow-t {OUT}", message)


def test_empty_posts_score_nothing(run: Run) -> None:
    posts = {"user": ["a", "b"], "time": [1e9, 1e9], "text": ["", "debt"]}
    pq.write_table(pa.table(posts), "odd.parquet")
    assess(run, f"{GIVEN} --measure bow", "odd.parquet")
    first, second, *_ = rows_of()
    assert (first["user"], first["rank"]) == ("b", 1)
    assert (second["user"], second["rank"], second["score"]) == ("a", 2, 0)


def test_a_state_refuses_what_it_was_not_made_with(run: Run) -> None:
    assess(run, f"{GIVEN} --measure bow-t --state s")
    Path("other.toml").write_text(TOPICS.replace("loan", "lend"))
    cases = {
        "--measure bow-t --bucket 1d": "made with the bucket 1w, got 1d",
        "--measure bow-t --mode paper": "made with the mode corrected, got paper",
        "--measure bow-t -m 13": "m must be <= 12, the number of buckets the state keeps, got 13",
        "--topics other.toml": "the state was made with another catalogue",
        "--measure ent": "does not say which words were used",
    }
    for options, message in cases.items():
        refused(run, f"assess --state s {OUT} {options}", message)


def test_nothing_to_rank_is_said(run: Run) -> None:
    refused(run, f"assess {GIVEN} {OUT}", "there is nothing to rank")


def test_an_explanation_shows_numbers_and_no_text_unless_asked(run: Run) -> None:
    posts = pq.read_table("posts.parquet")
    user = posts["user"][0].as_py()
    named = f"{GIVEN} --topic depression --measure bow-dt"
    words = f"explain posts.parquet {named} --user {user} --without 1"
    found = asked(run, words)
    assert "text" not in found["posts"][0]
    assert found["users"] == 30
    parts = found["interest"]["persistence"] - found["interest"]["breadth"]
    # Scores stand on a grid, so that equal ones tie.
    assert abs(found["score"] - parts) <= 2**-41
    first = asked(run, f"{words} --show-text")["posts"][0]
    assert first["text"] == posts["text"][first["number"] - 1].as_py()
    pq.write_table(posts.slice(1), "rest.parquet")
    assess(run, named, "rest.parquet")
    wanted = next(row for row in rows_of() if row["user"] == user)
    left = found["without"]
    assert (left["score"], left["rank"]) == (wanted["score"], wanted["rank"])
    code, out, _ = run(*words.split())
    assert code == 0
    for part in ("Position", "persistence", "The share of a word", "What if"):
        assert part in out


def test_an_explanation_can_take_the_others_from_a_state(run: Run) -> None:
    assess(run, f"{GIVEN} --state s")
    before = Path("s").read_bytes()
    words = "explain posts.parquet --user u1 --topic debts --measure ent"
    for others in ("--state s", GIVEN):
        refused(run, f"{words} {others} --without 0", "got 1 that are not")
    assert asked(run, f"{words} --state s") == asked(run, f"{words} {GIVEN}")
    assert Path("s").read_bytes() == before
    said = "explain takes one measure at a time, got all.\n"
    refused(run, f"{words.replace('ent', 'all')} {GIVEN}", said)


def test_alerts_are_given_once_and_kept_private(run: Run) -> None:
    assess(run, f"{GIVEN} --measure bow-t --state s")
    found = asked(run, "alerts s --top 10 --out a.parquet")
    assert found["entered"] == []
    assert {row["change"] for row in found["changes"]} == {"entered"}
    assert len(rows_of("a.parquet")) == sum(row["users"] for row in found["changes"]) > 0
    assert is_private("a.parquet")
    assert is_private("s.alerts")
    code, out, _ = run(*["alerts", "s", "--top", "10"])
    assert (code, out) == (0, "Nobody entered or left a band since the last check.\n")
    assert len(asked(run, "alerts s --top 20 --show-users 3")["entered"]) == 3
    refused(run, "alerts s --top x", "--top must look like 1,5,10")
    refused(run, "alerts s --top 100", "a band must be > 0 and < 100 percent, got 100")


def test_a_forgotten_user_is_in_neither_file(run: Run) -> None:
    assess(run, f"{GIVEN} --measure bow --state s")
    asked(run, "alerts s --top 50")
    user = rows_of("s.alerts")[0]["user"]
    assert asked(run, f"forget s --user {user}") == {"erased": 1, "users_left": 29}
    for path in ("s", "s.alerts"):
        assert user not in {row["user"] for row in rows_of(path)}
        assert is_private(path)
    refused(run, f"forget s --user {user}", "neither this state nor its alerts have this user")
    asked(run, f"forget s --user {'u1' if user != 'u1' else 'u2'}")
    assert len(rows_of("s")) == 28


def test_a_single_post_is_deleted_from_a_state_that_keeps_posts(run: Run) -> None:
    posts = pq.read_table("posts.parquet")
    user, time = posts["user"][0].as_py(), posts["time"][0].as_py().isoformat()
    assess(run, f"{GIVEN} --state s --keep-posts")
    assert asked(run, f"forget s --user {user} --post {time}") == {"posts_left": 299}
    assess(run, "--state s", "")
    deleted = ranks()
    pq.write_table(posts.slice(1), "rest.parquet")
    assess(run, GIVEN, "rest.parquet")
    assert ranks() == deleted
    forget = f"forget s --user {user}"
    refused(run, f"{forget} --post {time}", "the user has no post at 1 of the times given")
    refused(run, f"{forget} --post noon", "--post must be a time such as")
    refused(run, f"{forget} --user x --post {time}", "needs exactly 1 --user, got 2")


def test_a_single_post_is_not_deleted_from_a_state_without_posts(run: Run) -> None:
    assess(run, f"{GIVEN} --state s")
    refused(run, "forget s --user u1 --post 2024-01-01", "this state does not keep posts")


def test_bands_are_worth_a_lift_or_people_of_a_hundred_for_a_share_that_is_named(run: Run) -> None:
    shown = assess(run, f"{GIVEN} --measure bow-t --state s.state")
    assert "expected_precision" not in shown
    assert list(shown["lifts"]) == ["bow-t", "posts", "weeks"]
    assert shown["lifts"]["bow-t"]["top 5%"].keys() == {"lift", "low", "high"}
    ranked = "assess --state s.state --topic debts --measure bow-t"
    told = " ".join(run(*ranked.split())[1].split())
    assert "In a test on bloggers, how many times as often" in told
    assert "the number of posts alone" in told
    told = " ".join(run(*f"{ranked} --concerned 2%".split())[1].split())
    assert "If a topic concerns 2 in 100 here" in told
    found = asked(run, "alerts s.state --measure bow-t --concerned 0.02")
    assert found["lifts"]["bow-t"]["top 5%"]["of_100"] > 2
    assert all("expected precision" not in row for row in found["changes"])
    refused(run, f"{ranked} --concerned 40%", "at most 0.1, got 0.4")
