"""What happens on the second day: a state knows what was asked for, and which posts it counted."""

import csv
import json
import shutil
from datetime import date, timedelta
from pathlib import Path

import pytest
from support.commands import answer, asked, done, refused
from support.shown import Run

from sottovoce.assess.state.parts import KeptState, load_ranked

ASKED = "--topic depression --measure bow,keyword-kinds"
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
        write(Path("old.csv"), range(40))
        _, err = answer(run, f"assess old.csv {ASKED} --state kept")
        assert "WARNING" not in err
        assert "for the next run: kept.reading.json" in err
    shutil.copytree(first_day, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "new.csv", range(40, 60))


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_alerts_are_written_as_the_name_says(run: Run, begun: Path, ending: str) -> None:
    out = begun.with_name(f"alerts.{ending}")
    done(run, f"alerts kept --out {out.name}")
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file) if ending == "csv" else map(json.loads, file))
    assert set(rows[0]) == {"measure", "topic", "percent", "user", "entered"}
    # What a program for tables would take for a formula is none.
    assert {row["user"][0] for row in rows} == {"'" if ending == "csv" else "="}
    assert out.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("alerts kept --out alerts.xlsx", ("--out must end in .csv, .parquet or .jsonl",)),
        (
            "assess new.csv --update kept --topic helth",
            ("Did you mean 'health'?", "several domains: health"),
        ),
        ("assess new.csv --only-newer", ("--only-newer needs --state or --update",)),
    ],
)
def test_what_is_refused_changes_nothing_and_is_not_remembered(
    run: Run, begun: Path, command: str, said: tuple[str, ...]
) -> None:
    assert "Spark" not in refused(run, command, *said)
    assert not begun.with_name("kept.alerts").exists()
    assert load_ranked(begun.with_name("kept"))["topics"] == ["depression"]


def test_an_update_ranks_by_the_topic_and_measures_that_were_asked_for(
    run: Run, begun: Path
) -> None:
    out, err = answer(run, "assess new.csv --update kept --out ranks.csv --json")
    told = [(row["measure"], row["topic"]) for row in json.loads(out)["bands"]]
    assert told == [("bow", "depression"), ("keyword-kinds", "depression")]
    assert "WARNING" not in err
    assert "kept.reading.json" not in err
    assert {row["topic"] for row in asked(run, "alerts kept")["changes"]} == {"depression"}


def test_what_an_update_asks_for_is_what_the_next_run_goes_by(run: Run, begun: Path) -> None:
    done(run, "assess new.csv --update kept --topic sensitive --measure bow")
    ranked = load_ranked(begun.with_name("kept"))
    assert (ranked["topics"], ranked["measures"]) == (["sensitive"], ["bow"])
    assert len(asked(run, "assess --state kept --out ranks.csv")["bands"]) > 1


def test_an_export_that_repeats_old_posts_is_warned_of_with_their_number(
    run: Run, begun: Path
) -> None:
    write(begun, range(60))
    out, err = answer(run, "assess new.csv --update kept --json")
    assert "WARNING: 40 OF 60 POSTS ARE NO LATER THAN THE NEWEST" in err
    assert "2024-02-09" in err
    assert "--only-newer" in err
    assert json.loads(out)["not_newer"] == 40


def test_only_newer_posts_are_added_where_that_is_asked_for(run: Run, begun: Path) -> None:
    write(begun, range(60))
    _, err = answer(run, "assess new.csv --update kept --only-newer --out ranks.csv")
    assert "left out 40 posts that are not newer" in err
    assert "WARNING" not in err
    done(run, f"assess new.csv {ASKED} --out whole.csv")
    assert begun.with_name("ranks.csv").read_bytes() == begun.with_name("whole.csv").read_bytes()


def test_a_state_that_does_not_know_its_newest_post_warns_by_the_number(
    run: Run, begun: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forget_newest(kept: KeptState) -> dict[str, object]:
        ranked = kept.record.ranked
        return {k: v for k, v in ranked.items() if k not in {"newest", "topics"}}

    monkeypatch.setattr(KeptState, "last_ranking", property(forget_newest))
    said = "does not say when its newest post was written"
    refused(run, "assess new.csv --update kept --only-newer", said)
    write(begun, range(60))
    _, err = answer(run, "assess new.csv --update kept")
    assert "WARNING: THE FILE HAS 60 POSTS AND THE STATE HAD 40" in err


@pytest.mark.usefixtures("begun")
def test_count_and_describe_find_the_columns_as_assess_does(run: Run) -> None:
    assert asked(run, "describe old.csv")["users"] == PEOPLE
    out, err = answer(run, "count old.csv --out counts --json")
    assert json.loads(out)["texts"] == 40
    assert "body" in err
