"""Edges from a running server's histograms into the next server's rules."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.rank_processes import TOPICS
from support.rank_servers import Clock, description, having_published, listening, noise_service

from sottovoce.advisor.rank.histogram import load_edges

Command = Callable[..., tuple[int, str, str]]
ILLNESS = '[[topic]]\nname = "illness"\ndomain = "health"\nwords = ["ill"]\nsensitive = true\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("topics.toml").write_text(TOPICS + ILLNESS)
    return tmp_path


def published(folder: Path, run: Command, *options: str) -> tuple[int, str, str]:
    """Ask for edges once ten people have reported about one of two topics, near each other."""
    with having_published(folder, topics=2) as url:
        return run("rank-edges", url, "--out", "edges.json", *options)


def test_edges_move_to_where_people_are_and_serve_the_next_server(
    folder: Path, run: Command
) -> None:
    code, out, err = published(folder, run)
    assert (code, err) == (0, "")
    assert "Edges fitted for debt: edges.json" in out
    assert "Nothing was published about illness" in out
    assert "pays for their bucket again" in out
    edges = load_edges(Path("edges.json"))
    assert all(0.1 <= edge <= 0.15 for edge in edges["debt"].buckets.edges)
    assert edges["illness"].buckets.edges[0] == 0.05
    words = ("--topics", "topics.toml", "--measure", "bow-t", "--edges", "edges.json", "--dry-run")
    code, out, _ = run("rank-server", *words, "--json")
    assert code == 0
    announced = {topic["name"]: tuple(topic["edges"]) for topic in json.loads(out)["topics"]}
    assert announced == {name: topic.buckets.edges for name, topic in edges.items()}


def test_fitting_prints_for_machines(folder: Path, run: Command) -> None:
    code, out, _ = published(folder, run, "--json", "--buckets", "4")
    assert code == 0
    assert json.loads(out) == {"edges": "edges.json", "fitted": ["debt"], "kept": ["illness"]}
    assert load_edges(Path("edges.json"))["debt"].buckets.number == 4


def test_a_server_without_histograms_gives_no_edges(folder: Path, run: Command) -> None:
    with listening(noise_service(folder, Clock(), description())) as url:
        code, out, err = run("rank-edges", url)
    assert (code, out) == (2, "")
    assert "has published no histogram yet" in err
    assert not Path("edges.json").exists()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--edges", "edges.json", "--measure", "lda-dt"), "no edges of 'debt' under the measure"),
        (("--edges", "topics.toml"), "not a file of edges"),
        (("--edges", "edges.json", "--buckets", "5"), "leave out --buckets, --lowest"),
        (("--lowest", "0"), "give both or neither"),
    ],
)
def test_edges_that_do_not_fit_the_server_are_refused_in_a_sentence(
    folder: Path, run: Command, options: tuple[str, ...], why: str
) -> None:
    published(folder, run)
    code, out, err = run("rank-server", "--topics", "topics.toml", "--dry-run", *options)
    assert (code, out) == (2, "")
    assert why in err
    assert err.count("\n") <= 2
