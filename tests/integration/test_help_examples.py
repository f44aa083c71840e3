"""Examples in help run as they stand, in the order of work, on what a fresh install can make.

Those of `learn` run in `federation/test_learn_examples.py`.
"""

import gzip
import shutil
from pathlib import Path

import httpx
import pytest
from sottovoce_lab.bench import tokenize
from support.demos import EXAMPLE as DEMO
from support.help_examples import EXAMPLES, STORIES, Run, Story, address_in, answer_sheets
from support.own_export import write_own_export
from support.rank_servers import having_published
from support.shown_commands import blocks_in

import sottovoce as sv
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import write_community

ROOT = Path(__file__).parents[2]
# Its models take long to train: the page that says the same line is run by test_readme.py.
ON_A_PAGE = {"loop": "docs/how-to/loop.md"}
# What the fixture of all tests that look at its report runs.
IN_A_FIXTURE = ("demo",)
_MALLET = """\
#doc source pos typeindex type topic
#alpha : 0.1 0.1
#beta : 0.01
0 NA 0 0 debt 0
0 NA 1 1 baby 1
"""
_SMALLER = {
    "--users 2000 --weeks 26": "--users 60 --weeks 2",
    "u0007": "u07",
    "--vocabulary everyday": "--vocabulary few.txt",
    "tokenize --size 2": "tokenize --size 0.01",
    "--topics 50": "--topics 8 --iterations 2",
    "--allow-unmatched": "--allow-unmatched --least-share 0.001",
}


def test_every_command_has_an_example_that_is_run() -> None:
    run = [command for story in STORIES.values() for command in story]
    assert sorted(EXAMPLES) == sorted([*run, *ON_A_PAGE, *IN_A_FIXTURE])
    assert all(EXAMPLES.values())


@pytest.mark.parametrize("command", ON_A_PAGE)
def test_an_example_that_is_run_on_a_page_stands_there(command: str) -> None:
    shown = "\n".join(blocks_in(ROOT / ON_A_PAGE[command], "sh")).splitlines()
    assert {f"sottovoce {line}" for line in EXAMPLES[command]} <= set(shown)


def test_the_demo_that_tests_share_is_the_example(demo_report: Path) -> None:
    assert EXAMPLES["demo"] == [DEMO]
    assert demo_report.parent.name == DEMO.split()[-1]
    assert "<html" in demo_report.read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a reader's own, in which commands are typed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "sizes", [_SMALLER, pytest.param({}, marks=pytest.mark.long)], ids=["smaller", "as written"]
)
@pytest.mark.usefixtures("small_audits")
def test_the_examples_on_a_community_run_one_after_the_other(
    run: Run, sizes: dict[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenize, "REPEATS", 1)
    monkeypatch.setattr(tokenize, "TURNS_S", 0.0)
    monkeypatch.setattr(tokenize, "_SHORT_POSTS_USERS", 60)
    write_own_export(folder)
    Path("few.txt").write_text("sleep\nwork\nhome\ndoctor\n", encoding="utf-8")
    Path("state.gz").write_bytes(gzip.compress(_MALLET.encode()))
    story = Story("community", run, sizes)
    for command in STORIES["community"]:
        story.typed(command)
    story.end()


def test_the_examples_of_judges_run_once_their_sheets_are_filled(run: Run, folder: Path) -> None:
    write_community(
        folder / "community", SimulationParameters(users=60, weeks=2, background_documents=1)
    )
    ranking = ("--topics", "community/topics.toml", "--measure", "bow-t", "--out", "ranks.parquet")
    assert run("assess", "community/posts.parquet", *ranking)[0] == 0
    story = Story("judges", run)
    story.typed("topics judge export")
    answer_sheets("sheets-*.csv")
    assert "kappa" in story.typed("topics judge agreement")
    story.typed("topics judge import")
    story.typed("topics judge export-profiles")
    answer_sheets("profiles-*.csv")
    story.typed("topics judge import-profiles")
    story.end()


def test_the_example_of_a_lost_ledger_forgets_it(run: Run, folder: Path) -> None:
    (folder / "old").mkdir()
    sv.release_counts(
        ["my debt"], words=["debt"], epsilon=2, precision=2, ledger="old/notes.ledger"
    )
    shutil.rmtree("old")
    story = Story("lost", run)
    assert "no longer ask" in story.typed("ledger forget-place")
    sv.release_counts(["my loan"], words=["loan"], epsilon=2, precision=2, ledger="my.ledger")
    assert "Moved to my.ledger" in story.typed("ledger move")
    story.end()


def test_the_examples_of_servers_answer_until_they_are_stopped(run: Run, folder: Path) -> None:
    write_community(
        folder / "community", SimulationParameters(users=50, weeks=1, background_documents=1)
    )
    story = Story("servers", run)
    with (
        story.started("rank-server", "--port 0") as ranks,
        story.started("advise", "--no-open") as page,
        httpx.Client(trust_env=False, timeout=60) as browser,
    ):
        told = browser.get(f"{address_in(ranks)}/description").json()
        assert [topic["name"] for topic in told["topics"]]
        assert browser.get(address_in(page)).status_code < 400
    with having_published(folder / "others") as url:
        told = story.typed("rank-edges", **{"http://127.0.0.1:8765": url})
    assert "Edges fitted for debt: edges.json" in told
    story.end()
