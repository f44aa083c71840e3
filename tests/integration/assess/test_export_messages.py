"""What a stranger is told about an export: who is named, what was read, in which language."""

import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]
PLAIN = "We went to the lake and it was cold, so we all had some tea at the house."
GERMAN = "Wir waren gestern am See und das Wasser war noch ziemlich kalt, danach gab es Tee."
SAD = "I was diagnosed with depression last year."


def write(path: Path) -> Path:
    """Eleven people of whom one says it, and a deleted author who does."""
    lines = ["author,created_at,body"]
    for number in range(44):
        who, text = ("ada", SAD) if number % 11 == 0 else (f"ben{number % 11}", PLAIN)
        when = date(2024, 1, 1) + timedelta(days=number)
        lines += [f'{who},{when},"{text}"', f'[deleted],{when},"{SAD}"']
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def posts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "export.csv")


def test_who_has_no_evidence_is_not_named_as_most_exposed(run: Run, posts: Path) -> None:
    _, out, _ = run("assess", posts, "--topic", "depression", "--show-users", 5, "--json")
    assert [row["user"] for row in json.loads(out)["most_exposed"]] == ["ada"]


def test_what_is_asked_for_is_shown_though_a_state_is_kept(run: Run, posts: Path) -> None:
    asked = ("--topic", "depression", "--show-users", 1)
    _, out, _ = run("assess", posts, "--state", "kept", *asked, "--json")
    assert json.loads(out)["bands"][0]["topic"] == "depression"
    assert json.loads(out)["most_exposed"][0]["user"] == "ada"
    _, out, _ = run("assess", "--state", "kept")
    assert "nobody was ranked: --out RANKS.csv, --topic or --show-users does it" in out


def test_nobody_is_explained_as_nobody(run: Run, posts: Path) -> None:
    code, _, err = run("explain", posts, "--user", "[deleted]", "--topic", "depression")
    assert code == 2
    assert "stands for nobody" in err
    assert "--no-clean" in err


def test_a_report_reads_and_counts_only_the_posts_of_somebody(run: Run, posts: Path) -> None:
    code, _, err = run("assess", posts, "--topic", "depression", "--report", "page.html")
    assert code == 0, err
    page = Path("page.html").read_text(encoding="utf-8")
    assert "All 44 posts were read" in page
    assert "88 posts" not in page
    assert "A week holds between 2 and 7 posts" in page


def test_posts_in_another_language_are_not_said_to_give_nothing_away(
    run: Run, posts: Path, tmp_path: Path
) -> None:
    assert "English" not in run("assess", posts, "--topic", "depression")[2]
    german = tmp_path / "german.csv"
    german.write_text(posts.read_text().replace(PLAIN, GERMAN).replace(SAD, GERMAN))
    asked = ("--topic", "depression", "--report", "page.html")
    _, _, err = run("assess", german, *asked)
    said = next(line for line in err.splitlines() if line.startswith("WARNING: "))
    assert "do not seem to be in English" in said
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.index(said.removeprefix("WARNING: t")) < page.index("people who wrote")
    assert "posts that say it outright" not in page
    run("assess", posts, *asked)
    assert "English" not in Path("page.html").read_text(encoding="utf-8")
