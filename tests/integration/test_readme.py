"""The README and the guides are true: what they say to type works."""

import doctest
import gzip
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from sottovoce_lab.bench import tokenize
from support.demos import count_few_words, train_loops_briefly
from support.own_export import write_own_export
from support.shown_commands import blocks_in

from sottovoce.cli._app import app
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate, write_files
from sottovoce.privacy.ledger.elsewhere import user_ledger
from sottovoce.privacy.ledger.ledger import Ledger

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "docs" / "how-to" / "python.md"
START = ROOT / "docs" / "tutorials" / "start.md"
# The test run itself, and what would install into this environment or make another.
NOT_HERE = ("make test", "pip install", "python3 -m venv")
# What takes long only because a community is large; the long run types what stands there.
_SMALLER = {
    "--users 500 --weeks 8": "--users 60 --weeks 2",
    "--users 250 --weeks 6": "--users 60 --weeks 2",
    "--users 200 --weeks 8": "--users 60 --weeks 2",
    "--users 200 --weeks 4": "--users 60 --weeks 2",
    "--users 220 --weeks 1": "--users 70 --weeks 1",
    "--user u148": "--user u48",
    "--topics 100 --iterations 60": "--topics 100 --iterations 10",
    "--topics 60 --iterations 60": "--topics 60 --iterations 10",
    "--topics 20 --iterations 40": "--topics 20 --iterations 10",
    "users=250, weeks=6": "users=60, weeks=2",
    "bench tokenize --size 2": "bench tokenize --size 0.01",
    "make demo": "make --dry-run demo",
    "--vocabulary everyday": "--vocabulary few.txt",
}
Run = Callable[..., tuple[int, str, str]]


def commands(path: Path) -> list[str]:
    lines = "".join(blocks_in(path, "sh")).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith(NOT_HERE)]


def in_checkout(tmp_path: Path) -> Path:
    """A folder that looks like the checkout, so that outputs land outside the real one."""
    for name in (
        "Makefile",
        "constraints",
        "pyproject.toml",
        "src",
        "sottovoce-lab",
        "sottovoce-spark",
        "README.md",
        "tools",
    ):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = Path(sys.prefix)
    (tmp_path / ".venv").symlink_to(environment)
    return tmp_path


def write_what_the_guides_read(folder: Path) -> None:
    community = simulate(SimulationParameters(users=60, weeks=2, background_documents=1))
    with gzip.open(folder / "posts.csv.gz", "wb") as out:
        pacsv.write_csv(community.posts, out)
    pq.write_table(community.truth, folder / "truth.parquet")
    write_files(folder / "community", community)


MADE = {
    "README.md": [
        "demo/report.html",
        "community.html",
        "community/posts.parquet",
        "ranks.parquet",
        "analysis.html",
    ],
    "docs/tutorials/own-export.md": ["community.html", "counts/card.json", "statement.md"],
    "docs/how-to/export.md": ["report.html", "counts/card.json"],
    "docs/how-to/assess.md": ["ranks.parquet", "community.state.alerts", "alerts.parquet"],
    "docs/how-to/scale.md": ["ranks.parquet", "community.state", "community.state.alerts"],
    "docs/how-to/topics.md": ["model/card.json", "model/phi.npy"],
    "docs/how-to/loop.md": ["loop/report.html", "loop/rows.json"],
    "docs/how-to/choosing.md": ["community/posts.parquet"],
    "docs/how-to/release.md": ["released/card.json", "released/counts.npz"],
    "docs/how-to/published-by-mistake.md": ["released/card.json", "ranks.csv"],
    "docs/how-to/analyse.md": ["released/card.json", "analysis.html"],
    "docs/how-to/statements.md": ["statement.md"],
    "docs/how-to/judgements.md": ["sheets-judge-7.csv", "own.toml", "matched.toml", "judged.toml"],
}


@pytest.mark.long
@pytest.mark.parametrize("page", MADE)
def test_the_commands_of_a_page_run_in_a_shell_as_written(page: str, tmp_path: Path) -> None:
    # The page of `advise` stays open until it is stopped.
    lines = [line for line in commands(ROOT / page) if not line.startswith("sottovoce advise")]
    script = "\n".join(["set -e", *lines])
    assert "sottovoce simulate" in script or "export.csv" in script
    write_own_export(tmp_path)
    done = subprocess.run(
        ["/bin/bash", "-c", script],
        cwd=in_checkout(tmp_path),
        env={
            **os.environ,
            "MAKEFLAGS": "",
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for made in MADE[page]:
        assert (tmp_path / made).is_file()


def smaller(line: str) -> str:
    for written, instead in _SMALLER.items():
        line = line.replace(written, instead)
    return line


@pytest.mark.parametrize("page", MADE)
@pytest.mark.usefixtures("small_audits")
def test_the_commands_of_a_page_run_as_written(
    page: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other in this process, and in a shell what is not ours."""
    monkeypatch.chdir(in_checkout(tmp_path))
    monkeypatch.setattr(tokenize, "REPEATS", 1)
    monkeypatch.setattr(tokenize, "TURNS_S", 0.0)
    monkeypatch.setattr(tokenize, "_SHORT_POSTS_USERS", 60)
    train_loops_briefly(monkeypatch)
    count_few_words(monkeypatch, 120)
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    monkeypatch.setattr("sottovoce.web.advise.app.serve", lambda *_where, **_how: None)
    write_own_export(tmp_path)
    (tmp_path / "few.txt").write_text("sleep\nwork\nhome\ndoctor\n", encoding="utf-8")
    for line in map(smaller, commands(ROOT / page)):
        words = shlex.split(line)
        if words[0] == "sottovoce":
            code, _, err = run(*words[1:])
            assert code == 0, err
        else:
            # What `make demo` would make is made by the demo that other tests look at.
            subprocess.run(["/bin/bash", "-c", line], check=True)
    for made in MADE[page]:
        assert (tmp_path / made).is_file() or made == "demo/report.html"


def test_guides_release_the_same_texts_in_folders_and_ledgers_of_their_own(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the first page says; with one ledger the second of these would be refused."""
    (export,) = [line for line in commands(START) if line.startswith("export ")]
    name, _, value = export.removeprefix("export ").partition("=")
    for page in (ROOT / "README.md", PYTHON):
        folder = tmp_path / page.stem
        folder.mkdir()
        monkeypatch.chdir(folder)
        monkeypatch.setenv(name, value.strip('"').replace("$PWD", str(folder)))
        for line in map(smaller, commands(page)):
            if line.startswith(("sottovoce simulate", "sottovoce release")):
                code, _, err = run(*shlex.split(line)[1:])
                assert code == 0, err
            elif line.startswith("printf"):
                subprocess.run(["/bin/bash", "-c", line], check=True)
        assert (folder / "released" / "card.json").is_file()
        assert (folder / "state").is_dir()


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/tutorials/start.md",
        "docs/how-to/python.md",
        "docs/reference/simulation.md",
        "docs/reference/corpus.md",
        "docs/how-to/extending.md",
        "docs/how-to/assess.md",
        "docs/explanation/advise-standing.md",
        "docs/how-to/judgements.md",
        "docs/how-to/loop.md",
        "docs/how-to/scale.md",
        "docs/how-to/topics.md",
        "docs/how-to/release.md",
        "docs/how-to/analyse.md",
        "docs/how-to/classify-release.md",
        "docs/explanation/noise-shares.md",
        "docs/reference/paillier.md",
    ],
)
@pytest.mark.parametrize(
    "sized", [smaller, pytest.param(str, marks=pytest.mark.long)], ids=["smaller", "as written"]
)
@pytest.mark.usefixtures("small_audits")
def test_the_python_of_the_guides_runs_as_written(
    page: str, sized: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    train_loops_briefly(monkeypatch)
    count_few_words(monkeypatch, 120)
    write_what_the_guides_read(tmp_path)
    examples = blocks_in(ROOT / page, "python")
    assert examples
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(sized(example), page, "exec"), names)  # noqa: S102 - our own page


@pytest.mark.usefixtures("small_audits")
def test_the_page_on_python_spends_once_on_its_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The release from Python is that of the command, not a second one that adds to it."""
    monkeypatch.chdir(tmp_path)
    write_what_the_guides_read(tmp_path)
    made, release = (
        next(line for line in commands(PYTHON) if line.startswith(start))
        for start in ("printf", "sottovoce release")
    )
    words = made.split("'")[1].replace("\\n", "\n")
    (tmp_path / "words.txt").write_text(words, encoding="utf-8")
    app(shlex.split(release)[1:], standalone_mode=False)
    names: dict[str, object] = {}
    for example in blocks_in(PYTHON, "python"):
        if "notes" in example:
            exec(compile(example, "python.md", "exec"), names)  # noqa: S102 - our own page
    spends = [
        spend
        for account in Ledger(user_ledger()).accounts()
        for spend in Ledger(user_ledger()).spends(account.corpus)
    ]
    assert len(spends) == 1


def test_the_gallery_shows_what_its_examples_print() -> None:
    shown = "\n".join(blocks_in(ROOT / "docs" / "tutorials" / "gallery.md", "pycon"))
    held = doctest.DocTestParser().get_doctest(shown, {}, "gallery", "gallery.md", 0)
    assert len(held.examples) > 20
    told: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(held, out=told.append)
    assert result.failed == 0, "".join(told)
