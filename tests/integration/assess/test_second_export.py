"""What happens on the second day: a state knows what was asked for, and which posts it counted."""

import csv
import json
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from sottovoce.assess.state.parts import KeptState, load_ranked

Run = Callable[..., tuple[int, str, str]]
PEOPLE = 20
SAYS = {0: "I was diagnosed with depression last year.", 1: "My depression is back again."}


def write(path: Path, days: range) -> Path:
    """A post a day: twenty people in turn, of whom two speak of depression."""
    lines = ["author,created_at,body"]
    for day in days:
        text = SAYS.get(day % PEOPLE, "We went to the lake and had some tea at the house.")
        lines.append(f'=p{day % PEOPLE:02},{date(2024, 1, 1) + timedelta(days=day)},"{text}"')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def first_day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("first-day")


@pytest.fixture
def begun(run: Run, first_day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state of 40 days, ranked by one topic and two measures; made once, and copied."""
    monkeypatch.chdir(first_day)
    if not Path("kept").exists():
        asked = ("--topic", "depression", "--measure", "bow,keyword-kinds")
        posts = write(Path("old.csv"), range(40))
        code, _, err = run("assess", posts, *asked, "--state", "kept")
        assert code == 0, err
        assert "WARNING" not in err
        assert "for the next run: kept.reading.json" in err
    shutil.copytree(first_day, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "new.csv", range(40, 60))


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_alerts_are_written_as_the_name_says(run: Run, begun: Path, ending: str) -> None:
    out = begun.with_name(f"alerts.{ending}")
    assert run("alerts", "kept", "--out", out)[0] == 0
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file) if ending == "csv" else map(json.loads, file))
    assert set(rows[0]) == {"measure", "topic", "percent", "user", "entered"}
    # What a program for tables would take for a formula is none.
    assert {row["user"][0] for row in rows} == {"'" if ending == "csv" else "="}
    assert out.stat().st_mode & 0o077 == 0


def test_alerts_in_a_file_of_no_known_kind_are_refused_before_anything(
    run: Run, begun: Path
) -> None:
    code, _, err = run("alerts", "kept", "--out", "alerts.xlsx")
    assert code == 2
    assert "--out must end in .csv, .parquet or .jsonl" in err
    assert "Spark" not in err
    assert not begun.with_name("kept.alerts").exists()


def test_an_update_ranks_by_the_topic_and_measures_that_were_asked_for(
    run: Run, begun: Path
) -> None:
    code, out, err = run("assess", begun, "--update", "kept", "--out", "ranks.csv", "--json")
    assert code == 0, err
    told = [(row["measure"], row["topic"]) for row in json.loads(out)["bands"]]
    assert told == [("bow", "depression"), ("keyword-kinds", "depression")]
    assert "WARNING" not in err
    assert "kept.reading.json" not in err
    changes = json.loads(run("alerts", "kept", "--json")[1])["changes"]
    assert {row["topic"] for row in changes} == {"depression"}


def test_what_an_update_asks_for_is_what_the_next_run_goes_by(run: Run, begun: Path) -> None:
    run("assess", begun, "--update", "kept", "--topic", "sensitive", "--measure", "bow")
    ranked = load_ranked(begun.with_name("kept"))
    assert (ranked["topics"], ranked["measures"]) == (["sensitive"], ["bow"])
    _, out, _ = run("assess", "--state", "kept", "--out", "ranks.csv", "--json")
    assert len(json.loads(out)["bands"]) > 1


def test_a_misspelt_topic_is_not_remembered(run: Run, begun: Path) -> None:
    code, _, err = run("assess", begun, "--update", "kept", "--topic", "helth")
    assert code == 2
    assert "Did you mean 'health'?" in err
    assert "several domains: health" in err
    assert load_ranked(begun.with_name("kept"))["topics"] == ["depression"]


def test_an_export_that_repeats_old_posts_is_warned_of_with_their_number(
    run: Run, begun: Path
) -> None:
    code, out, err = run("assess", write(begun, range(60)), "--update", "kept", "--json")
    assert code == 0
    assert "WARNING: 40 OF 60 POSTS ARE NO LATER THAN THE NEWEST" in err
    assert "2024-02-09" in err
    assert "--only-newer" in err
    assert json.loads(out)["not_newer"] == 40


def test_only_newer_posts_are_added_where_that_is_asked_for(run: Run, begun: Path) -> None:
    whole = write(begun, range(60))
    asked = ("--topic", "depression", "--measure", "bow,keyword-kinds")
    _, _, err = run("assess", whole, "--update", "kept", "--only-newer", "--out", "ranks.csv")
    assert "left out 40 posts that are not newer" in err
    assert "WARNING" not in err
    run("assess", whole, *asked, "--out", "whole.csv")
    assert begun.with_name("ranks.csv").read_bytes() == begun.with_name("whole.csv").read_bytes()


def test_a_state_that_does_not_know_its_newest_post_warns_by_the_number(
    run: Run, begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget_newest(kept: KeptState) -> dict[str, object]:
        ranked = kept.record.ranked
        return {k: v for k, v in ranked.items() if k not in {"newest", "topics"}}

    monkeypatch.setattr(KeptState, "last_ranking", property(forget_newest))
    code, _, err = run("assess", begun, "--update", "kept", "--only-newer")
    assert code == 2
    assert "does not say when its newest post was written" in err
    _, _, err = run("assess", write(begun, range(60)), "--update", "kept")
    assert "WARNING: THE FILE HAS 60 POSTS AND THE STATE HAD 40" in err


def test_only_newer_needs_a_state(run: Run, begun: Path) -> None:
    code, _, err = run("assess", begun, "--only-newer")
    assert code == 2
    assert "--only-newer needs --state or --update" in err


def test_count_and_describe_find_the_columns_as_assess_does(run: Run, tmp_path: Path) -> None:
    posts = write(tmp_path / "old.csv", range(40))
    code, out, err = run("describe", posts, "--json")
    assert code == 0, err
    assert json.loads(out)["users"] == PEOPLE
    code, out, err = run("count", posts, "--out", tmp_path / "counts", "--json")
    assert code == 0, err
    assert json.loads(out)["texts"] == 40
    assert "body" in err
