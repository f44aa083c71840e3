"""What a stranger is told about an export: who is named, what was read, in which language."""

from datetime import date, timedelta
from pathlib import Path

import pytest
from support.commands import answer, asked, done, refused
from support.shown import Run

PLAIN = "We went to the lake and it was cold, so we all had some tea at the house."
GERMAN = "Wir waren gestern am See und das Wasser war noch ziemlich kalt, danach gab es Tee."
DEPRESSION = "--topic depression"
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


@pytest.fixture(autouse=True)
def posts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "export.csv")


def test_who_has_no_evidence_is_not_named_as_most_exposed(run: Run) -> None:
    most = asked(run, f"assess export.csv {DEPRESSION} --show-users 5")["most_exposed"]
    assert [row["user"] for row in most] == ["ada"]


def test_what_is_asked_for_is_shown_though_a_state_is_kept(run: Run) -> None:
    shown = asked(run, f"assess export.csv --state kept {DEPRESSION} --show-users 1")
    assert shown["bands"][0]["topic"] == "depression"
    assert shown["most_exposed"][0]["user"] == "ada"
    said = "nobody was ranked: to rank, give --out RANKS.csv, --topic or --show-users"
    assert said in done(run, "assess --state kept")


def test_nobody_is_explained_as_nobody(run: Run) -> None:
    words = f"explain export.csv --user [deleted] {DEPRESSION}"
    refused(run, words, "is no person's", "--no-clean")


def test_a_report_reads_and_counts_only_the_posts_of_somebody(run: Run) -> None:
    done(run, f"assess export.csv {DEPRESSION} --report page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "All 44 posts were read" in page
    assert "88 posts" not in page
    assert "A week holds between 2 and 7 posts" in page


def test_posts_in_another_language_are_not_said_to_give_nothing_away(run: Run, posts: Path) -> None:
    assert "English" not in answer(run, f"assess export.csv {DEPRESSION}")[1]
    german = posts.read_text().replace(PLAIN, GERMAN).replace(SAD, GERMAN)
    Path("german.csv").write_text(german)
    report = f"{DEPRESSION} --report page.html"
    _, err = answer(run, f"assess german.csv {report}")
    said = next(line for line in err.splitlines() if line.startswith("WARNING: "))
    assert "do not seem to be in English" in said
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.index(said.removeprefix("WARNING: t")) < page.index("people who wrote")
    assert "posts that say it outright" not in page
    done(run, f"assess export.csv {report}")
    assert "English" not in Path("page.html").read_text(encoding="utf-8")
