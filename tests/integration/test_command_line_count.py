"""``sottovoce learn topics``, as people meet it."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from support.shown import Run

from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.recipe import CountRecipe

WORDS = ("bank", "debt", "itch", "loan", "rash", "skin")
PEERS = ("ada", "ben", "cy")
CATALOGUE = """
[[topic]]
name = "debt"
domain = "money"
sensitive = true
words = ["debt", "loan"]

[[topic]]
name = "skin"
domain = "health"
sensitive = true
words = ["rash", "itch"]
"""


def counted(folder: Path) -> Path:
    """Pairs of two topics, as `learn count` would have kept them."""
    low, high = np.triu_indices(len(WORDS))
    money = (0, 1, 3)
    together = (np.isin(low, money) == np.isin(high, money)) & (low != high)
    totals = np.where(together, 5_000, 10).astype(np.int64)
    recipe = CountRecipe("pairs", 10, Fraction(1))
    path = folder / "pairs.counts"
    path.write_bytes(TogetherCounts(WORDS, (), totals, recipe, PEERS, PEERS).to_bytes())
    return path


def test_topics_of_a_count_are_a_model_that_other_commands_take(run: Run, tmp_path: Path) -> None:
    model = tmp_path / "model"
    path = counted(tmp_path)
    code, out, err = run("learn", "topics", path, "--topics", 2, "--out", model, "--json")
    assert (code, err) == (0, "")
    told = {row["topic"]: sorted(row["words"].split()[:3]) for row in json.loads(out)["topics"]}
    assert sorted(told.values()) == [["bank", "debt", "loan"], ["itch", "rash", "skin"]]
    code, out, _ = run("topics", "show", model, "--json")
    assert code == 0
    assert "bank" in out
    posts, catalogue = tmp_path / "posts.csv", tmp_path / "catalogue.toml"
    posts.write_text("user,time,text\nu1,2020-01-01,my debt and bank loan\nu2,2020-01-02,a rash\n")
    catalogue.write_text(CATALOGUE)
    matched, ranks = tmp_path / "matched.toml", tmp_path / "ranks.parquet"
    chosen = [("--choose", f"{'debt' if 'debt' in told[at] else 'skin'}={at}") for at in told]
    assert run("topics", "match", model, catalogue, "--out", matched, *sum(chosen, ()))[0] == 0
    asked = ("assess", posts, "--model", model, "--topics", matched, "--measure", "lda")
    code, _, err = run(*asked, "--out", ranks)
    assert (code, err) == (0, "")
    first = [row for row in pq.read_table(ranks).to_pylist() if row["rank"] == 1]
    assert sorted((row["topic"], row["user"]) for row in first) == [("debt", "u1"), ("skin", "u2")]


def test_more_topics_than_stand_above_the_noise_are_warned_of(run: Run, tmp_path: Path) -> None:
    path = counted(tmp_path)
    code, out, err = run("learn", "topics", path, "--topics", 4, "--out", tmp_path / "model")
    assert code == 0
    assert "4 topics were asked for" in err
    assert "dimensions above the noise" in out


@pytest.mark.parametrize("content", [b"", b"no count"])
def test_a_file_that_is_no_count_is_refused(run: Run, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pairs.counts"
    path.write_bytes(content)
    code, _, err = run("learn", "topics", path, "--out", tmp_path / "model")
    assert code == 2
    assert "pairs.counts is empty" in err or "this is no count together" in err
    assert not (tmp_path / "model").exists()
