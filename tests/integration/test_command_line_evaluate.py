"""``sottovoce evaluate`` as its users meet it."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from support.shown import Run

from sottovoce.corpus.schema import POSTS, TRUTH

TOPICS = ("one topic", "another")
USERS = 40


@pytest.fixture
def community(tmp_path: Path) -> Path:
    """Forty users; ``good`` finds the sensitive of both topics, ``bad`` puts them last."""
    users = [f"u{place}" for place in range(USERS)]
    pairs = [(user, topic) for topic in TOPICS for user in users]
    sensitive = np.array([place % 8 == 0 for _ in TOPICS for place in range(USERS)])
    owners, topics = ([pair[side] for pair in pairs] for side in (0, 1))
    grades = np.where(sensitive, 0.9, 0.2)
    truth = pa.table([owners, topics, ["x"] * len(pairs), sensitive, grades], schema=TRUTH)
    pq.write_table(truth, tmp_path / "truth.parquet")
    scores = {"good": sensitive + 0.0, "bad": 0.0 - sensitive, "ent": np.arange(2.0 * USERS)}
    write_ranks(tmp_path / "ranks.parquet", owners, topics, scores)
    owner = [user for place, user in enumerate(users) for _ in range(1 + place % 3)]
    times = pa.array([0] * len(owner), pa.timestamp("us", tz="UTC"))
    posts = pa.table([owner, times, ["two words"] * len(owner)], schema=POSTS)
    pq.write_table(posts, tmp_path / "posts.parquet")
    return tmp_path


def write_ranks(
    path: Path,
    users: list[str],
    topics: list[str],
    scores: dict[str, "np.ndarray[tuple[int], np.dtype[np.float64]]"],
) -> None:
    tables = [
        pa.table({"measure": [name] * len(users), "user": users, "topic": topics, "score": own})
        for name, own in scores.items()
    ]
    pq.write_table(pa.concat_tables(tables), path)


def test_measures_stand_beside_all_baselines_and_are_compared_with_each(
    run: Run, community: Path
) -> None:
    arguments = [community / "ranks.parquet", community / "truth.parquet"]
    code, out, err = run("evaluate", *arguments, "--posts", community / "posts.parquet", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    names = [row["measure"] for row in found["measures"]]
    assert names == ["good", "bad", "random", "posts", "words", "ent"]
    assert [row["baseline"] for row in found["measures"]] == [False] * 2 + [True] * 4
    rows = {row["measure"]: row for row in found["measures"]}
    assert rows["good"]["metrics"]["map"]["value"] == pytest.approx(1.0)
    assert rows["good"]["metrics"]["ndcg"]["value"] == pytest.approx(1.0)
    assert rows["random"]["metrics"]["r_precision_macro"]["value"] == pytest.approx(1 / 8)
    assert rows["bad"]["metrics"]["precision_at_5"]["value"] == 0.0
    # Every third user, and of the sensitive (0, 8, 16, 24, 32) two, has three posts of two words.
    for volume in ("posts", "words"):
        expected = 2 / 13
        assert rows[volume]["metrics"]["precision_at_5"]["value"] == pytest.approx(expected)
    for row in found["measures"]:
        for interval in row["metrics"].values():
            assert interval["low"] <= interval["high"]
    assert rows["good"]["volume"]["p_value"] < 0.01 < rows["bad"]["volume"]["p_value"]
    assert rows["good"]["r_precision_by_topic"] == dict.fromkeys(TOPICS, 1.0)
    assert (found["sensitive"], found["judged"]) == (10, 80)
    compared = {(row["measure"], row["baseline"]): row for row in found["comparisons"]}
    assert len(compared) == 2 * 4
    against = compared["good", "random"]
    assert against["hits"]["t"] is None  # all users differ alike
    assert against["hits"]["difference"] == pytest.approx(1 - 1 / 8)
    # Five people are sensitive, in both topics: ten pairs, but five that can be swapped.
    assert against["hits"]["p_permutation"] == pytest.approx(2 / 2**5)
    assert against["p_holm"] >= against["hits"]["p_permutation"]
    assert against["map"]["low"] > 0 > compared["bad", "random"]["map"]["high"]


def test_people_see_two_tables_and_what_is_missing(run: Run, community: Path) -> None:
    write_ranks(
        community / "few.parquet",
        [f"u{place}" for place in range(USERS)] * 2,
        [topic for topic in TOPICS for _ in range(USERS)],
        {"mine": np.arange(2.0 * USERS)},
    )
    code, out, err = run("evaluate", community / "few.parquet", community / "truth.parquet")
    assert code == 0
    assert "mine" in out
    assert "(random)" in out
    assert "Gains over random" in out
    assert "rank with assess --measure ent as well" in err
    assert "give --posts" in err


def test_posts_and_topics_give_the_entropy_baseline_that_ranks_lack(
    run: Run, community: Path
) -> None:
    topics = "".join(
        f'[[topic]]\nname = "{name}"\ndomain = "d"\nsensitive = true\nwords = ["two", "rare"]\n'
        for name in TOPICS
    )
    (community / "topics.toml").write_text(topics)
    ranks = pq.read_table(community / "ranks.parquet")
    without = ranks.filter(pc.not_equal(ranks["measure"], "ent"))
    pq.write_table(without, community / "ranks.parquet")
    files = [community / "ranks.parquet", community / "truth.parquet"]
    more = ["--posts", community / "posts.parquet", "--topics", community / "topics.toml"]
    code, out, err = run("evaluate", *files, *more, "--json")
    assert (code, err) == (0, "")
    rows = {row["measure"]: row for row in json.loads(out)["measures"]}
    assert rows["ent"]["baseline"]
    # Everyone has used one of the words and nobody the other, so entropy tells nobody apart.
    assert rows["ent"]["metrics"] == rows["random"]["metrics"]


def changed(path: Path, column: str, value: object, row: int) -> None:
    table = pq.read_table(path)
    values = table[column].to_pylist()
    values[row] = value
    place = table.column_names.index(column)
    pq.write_table(table.set_column(place, table.field(column), [values]), path)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("user", "stranger", "1 of 40 judged users are missing in the ranks"),
        ("user", "u1", "a user must be ranked once, got 1 rows too many"),
        ("score", float("nan"), "scores must be numbers, got 1"),
        ("score", None, "scores must be numbers, got 1"),
        ("topic", None, "1 rows without a topic"),
    ],
)
def test_broken_ranks_are_refused(
    run: Run, community: Path, column: str, value: object, message: str
) -> None:
    changed(community / "ranks.parquet", column, value, row=0)
    code, out, err = run("evaluate", community / "ranks.parquet", community / "truth.parquet")
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def truth_file(path: Path, rows: list[tuple[str, str, bool, float]]) -> Path:
    users, topics, sensitive, grades = (list(column) for column in zip(*rows, strict=True))
    pq.write_table(
        pa.table([users, topics, [None] * len(users), sensitive, grades], schema=TRUTH), path
    )
    return path


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("u0", "another", True, 1.0)], "at least 2 judged users, got 1"),
        (
            [("u0", "another", False, 0.1), ("u1", "another", False, 0.0)],
            "at least 1 sensitive user",
        ),
        ([("u0", "another", True, 0.0), ("u1", "another", False, 0.0)], "got 1 of grade 0"),
        ([("u0", "a third", True, 0.9), ("u1", "a third", False, 0.0)], "lack a judged topic"),
    ],
)
def test_truth_that_judges_nothing_is_refused(
    run: Run, community: Path, rows: list[tuple[str, str, bool, float]], message: str
) -> None:
    truth = truth_file(community / "other.parquet", rows)
    code, out, err = run("evaluate", community / "ranks.parquet", truth)
    assert (code, out) == (2, "")
    assert message in err


def test_other_files_and_options_are_refused(run: Run, community: Path) -> None:
    ranks, truth = community / "ranks.parquet", community / "truth.parquet"
    assert run("evaluate", community / "none.parquet", truth)[0] == 2
    assert run("evaluate", ranks, truth, "--seed", "-1")[0] == 2
    code, _, err = run("evaluate", truth, truth)
    assert (code, "must have a column 'measure'" in err) == (2, True)
    (community / "half.parquet").write_bytes(ranks.read_bytes()[:200])
    assert "not a complete Parquet file" in run("evaluate", community / "half.parquet", truth)[2]
    write_ranks(community / "named.parquet", ["u0"], ["another"], {"random": np.zeros(1)})
    own = truth_file(
        community / "o.parquet", [("u0", "another", True, 1.0), ("u1", "another", False, 0.0)]
    )
    assert "missing in the ranks" in run("evaluate", community / "named.parquet", own)[2]
    write_ranks(community / "named.parquet", ["u0", "u1"], ["another"] * 2, {"random": np.zeros(2)})
    assert "named like a baseline" in run("evaluate", community / "named.parquet", own)[2]
    pq.write_table(pq.read_table(ranks).slice(0, 0), community / "empty.parquet")
    assert "at least 1 row" in run("evaluate", community / "empty.parquet", truth)[2]
