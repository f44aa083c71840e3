"""From somebody's export to an answer in one command."""

import json
import stat
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from support.forum_export import QUOTER, ForumExport, write_export

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ForumExport]:
    path = tmp_path_factory.mktemp("export") / "export.csv"
    return path, write_export(path)


@pytest.fixture(scope="module")
def small_export(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ForumExport]:
    """For pages, which read every post closely."""
    path = tmp_path_factory.mktemp("export") / "export.csv"
    return path, write_export(path, rows=500)


@pytest.fixture
def posts(
    export: tuple[Path, ForumExport], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The export, and an empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return export[0]


def good(answer: tuple[int, str, str]) -> tuple[str, str]:
    code, out, err = answer
    assert code == 0, err
    return out, err


def test_the_first_command_answers_and_leaves_nothing_behind(run: Run, posts: Path) -> None:
    out, err = good(run("assess", posts, "--topic", "health"))
    assert "user = author (by its name), time = created_at" in err
    assert "cleaned of quotes in" in err
    assert "posts without a person as author" in err
    assert "depression" in out
    assert "debt" not in out
    assert "separation" in out
    assert not list(Path().iterdir())


def test_who_only_quotes_and_who_is_deleted_do_not_rank(
    run: Run, posts: Path, export: tuple[Path, ForumExport]
) -> None:
    out, _ = good(run("assess", posts, "--topic", "depression", "--out", "ranks.csv", "--json"))
    said = json.loads(out)
    assert said["cleaned"]["quotes"] > 0
    assert said["cleaned"]["posts of nobody"] > 0
    assert said["rows"] == len(export[1].rows)
    ranks = pl.read_csv("ranks.csv")
    assert "[deleted]" not in ranks["user"]
    assert ranks.filter(pl.col("user") == QUOTER)["score"].to_list() == [0.0]
    theirs = ranks.filter(pl.col("user").is_in(export[1].afflicted))["rank"].to_list()
    assert max(theirs) < len(ranks) / 8
    assert stat.S_IMODE(Path("ranks.csv").stat().st_mode) == 0o600
    good(run("assess", posts, "--topic", "depression", "--no-clean", "--out", "before.parquet"))
    before = pq.read_table("before.parquet").to_pylist()
    assert "[deleted]" in {row["user"] for row in before}
    assert next(row for row in before if row["user"] == QUOTER)["score"] > 0


def test_the_guess_and_the_model_are_kept_with_the_state_and_used_again(
    run: Run, posts: Path, tmp_path: Path
) -> None:
    _, err = good(run("assess", posts, "--state", "s", "--measure", "voice-t"))
    assert "background learnt from these posts" in err
    assert {each.name for each in tmp_path.iterdir()} == {"s", "s.model", "s.reading.json"}
    kept = [*Path("s.model").iterdir(), Path("s.reading.json"), Path("s")]
    assert {stat.S_IMODE(each.stat().st_mode) for each in kept} == {0o600}
    assert json.loads(Path("s.reading.json").read_text())["columns"]["user"] == "author"
    write_export(Path("more.csv"), rows=300, seed=1)
    _, err = good(run("assess", "more.csv", "--state", "s", "--out", "r.jsonl"))
    assert "taken from the file" not in err
    assert "background" not in err
    first = json.loads(Path("r.jsonl").read_text().splitlines()[0])
    assert (first["measure"], first["rank"]) == ("voice-t", 1)
    out, _ = good(run("forget", "s", "--user", QUOTER))
    assert "is not learnt again" in out
    Path("s.model/weights.npy").write_bytes(b"damaged")
    code, _, err = run("assess", "more.csv", "--state", "s", "--out", "r.jsonl")
    assert code == 2
    assert "s.model" in err


def test_states_of_unlike_models_or_cleaning_do_not_merge(
    run: Run, posts: Path, small_export: tuple[Path, ForumExport]
) -> None:
    write_export(Path("more.csv"), rows=600, seed=1)
    good(run("assess", small_export[0], "--state", "s", "--measure", "voice-t"))
    good(run("assess", "more.csv", "--state", "other", "--measure", "voice-t"))
    code, _, err = run("assess", "--state", "s", "--merge", "other", "--out", "r.csv")
    assert (code, "the models differ" in err) == (2, True)
    raw = ("--model", "s.model", "--measure", "voice-t", "--no-clean")
    good(run("assess", "more.csv", "--state", "raw", *raw))
    code, _, err = run("assess", "--state", "s", "--merge", "raw", "--out", "r.csv")
    assert (code, "cleaned" in err) == (2, True)
    good(run("assess", "more.csv", "--state", "like", "--model", "s.model", "--measure", "voice-t"))
    good(run("assess", "--state", "s", "--merge", "like", "--out", "r.csv"))


def test_a_user_gets_their_reasons_at_the_first_try(
    run: Run, posts: Path, export: tuple[Path, ForumExport]
) -> None:
    out, _ = good(
        run("explain", posts, "--user", export[1].afflicted[0], "--topic", "Depression", "--json")
    )
    why = json.loads(out)
    assert why["posts"]
    assert why["words"]
    leaving = why["leaving"]
    if leaving is not None:
        numbers = [each for post in leaving["posts"] for each in ("--without", post)]
        asked = ("--user", export[1].afflicted[0], "--topic", "depression", *numbers, "--json")
        then = json.loads(good(run("explain", posts, *asked))[0])["without"]
        assert then["rank"] is None or then["rank"] > why["rank"]


def test_a_lone_user_can_explain(run: Run, posts: Path) -> None:
    Path("mine.csv").write_text(
        "author,date,message\n"
        + "".join(f"me,2024-01-{day:02},I feel depressed again today\n" for day in range(1, 20))
    )
    asked = ("--user", "me", "--topic", "depression", "--measure", "bow-t", "--json")
    out, _ = good(run("explain", "mine.csv", *asked))
    assert (json.loads(out)["rank"], json.loads(out)["users"]) == (1, 1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--out", "ranks.xlsx"), "must end in .csv, .parquet or .jsonl"),
        (("--out", "ranks"), "got no ending"),
        (("--topic", "depresion"), "Did you mean 'depression'?"),
        (("--topic", "helth"), "or a domain"),
        (("--measure", "voice-tt"), "Did you mean 'voice-t'?"),
        (("--fields", "text=boddy"), "Did you mean 'body'?"),
        (("--mode", "paper", "--clean", "--measure", "bow"), "not cleaned"),
        (("--day-first", "--month-first"), "contradict"),
        (("--delimiter", "::"), "one ASCII character"),
    ],
)
def test_what_is_refused_says_what_to_do(
    run: Run, posts: Path, given: tuple[str, ...], said: str
) -> None:
    code, _, err = run("assess", posts, *given)
    assert code == 2
    assert said in err


def test_authors_that_are_all_nobody_are_refused_with_a_sentence(run: Run, posts: Path) -> None:
    rows = "".join(f"[deleted],2024-01-0{day},I feel sad\n" for day in range(1, 9))
    Path("gone.csv").write_text("author,created_at,body\n" + rows)
    code, _, err = run("assess", "gone.csv", "--measure", "bow-t")
    assert code == 2
    assert "8 posts without a person as author" in err
    assert "--no-clean" in err


def test_a_run_that_drops_most_rows_says_so_loudly(run: Run, posts: Path) -> None:
    rows = "".join(f"u{n},yesterday,I feel sad\n" for n in range(30))
    some = "".join(f"u{n},2024-01-02,I feel sad\n" for n in range(5))
    Path("bad.csv").write_text(f"user,time,text\n{rows}{some}")
    out, err = good(run("assess", "bad.csv", "--measure", "bow-t", "--json"))
    assert "MOST ROWS WERE LEFT OUT, 30 of 35" in err
    assert json.loads(out)["skipped"] == {"unreadable time": 30}


def test_a_report_names_nobody_unless_asked_and_then_it_is_logged(
    run: Run, posts: Path, small_export: tuple[Path, ForumExport]
) -> None:
    people = {row[1] for row in small_export[1].rows}
    asked = ("assess", small_export[0], "--topic", "health", "--report", "report.html")
    _, err = good(run(*asked))
    page = Path("report.html").read_text()
    assert "names nobody" in err
    assert not [name for name in people if name in page]
    assert "depression" in page
    assert "src=" not in page
    _, err = good(run(*asked, "--people"))
    named = Path("report.html").read_text()
    assert [name for name in people if name in named]
    assert "logged in report.html.log" in err
    line = json.loads(Path("report.html.log").read_text())
    assert line["event"] == "report with people"
    modes = {stat.S_IMODE(Path(name).stat().st_mode) for name in ("report.html", "report.html.log")}
    assert modes == {0o600}
    code, _, err = run("assess", posts, "--people")
    assert (code, "--people needs --report" in err) == (2, True)


def test_a_report_does_not_tell_numbers_of_a_few_people(
    run: Run, posts: Path, small_export: tuple[Path, ForumExport]
) -> None:
    asked = ("--topic", "depression", "--measure", "keyword-kinds", "--report", "report.html")
    good(run("assess", small_export[0], *asked))
    page = Path("report.html").read_text()
    cells = [cell.split("</td>")[0] for cell in page.split("<td>")[1:]]
    assert "fewer than 5" in cells
    assert not {"1", "2", "3", "4"} & set(cells)
