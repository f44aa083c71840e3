"""From somebody's export to an answer in one command."""

import json
import shutil
import stat
from pathlib import Path

import polars as pl
import pytest
from support.commands import answer, asked, done, refused
from support.forum_export import QUOTER, ForumExport, write_export
from support.shown import Run

DEPRESSION = "assess export.csv --topic depression"
VOICE = "--measure voice-t"


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ForumExport, ForumExport]:
    """Two of them: pages read every post closely, and are made of a small one."""
    folder = tmp_path_factory.mktemp("export")
    large = write_export(folder / "export.csv")
    return folder, large, write_export(folder / "small.csv", rows=500)


@pytest.fixture(autouse=True)
def export(
    exports: tuple[Path, ForumExport, ForumExport], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ForumExport:
    """A folder to work in, with both of them and no more."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(exports[0], tmp_path, dirs_exist_ok=True)
    return exports[1]


def is_private(*names: str) -> bool:
    return {stat.S_IMODE(Path(name).stat().st_mode) for name in names} == {0o600}


def test_the_first_command_answers_and_leaves_nothing_behind(run: Run) -> None:
    out, err = answer(run, "assess export.csv --topic health")
    assert "user = author (by its name), time = created_at" in err
    assert "cleaned of quotes in" in err
    assert "posts without a person as author" in err
    assert "depression" in out
    assert "debt" not in out
    assert "separation" in out
    assert {each.name for each in Path().iterdir()} == {"export.csv", "small.csv"}


def test_who_only_quotes_and_who_is_deleted_do_not_rank(run: Run, export: ForumExport) -> None:
    said = asked(run, f"{DEPRESSION} --out ranks.csv")
    assert said["cleaned"]["quotes"] > 0
    assert said["cleaned"]["posts of nobody"] > 0
    assert said["rows"] == len(export.rows)
    ranks = pl.read_csv("ranks.csv")
    assert "[deleted]" not in ranks["user"]
    assert ranks.filter(pl.col("user") == QUOTER)["score"].to_list() == [0.0]
    theirs = ranks.filter(pl.col("user").is_in(export.afflicted))["rank"].to_list()
    assert max(theirs) < len(ranks) / 8
    assert is_private("ranks.csv")
    done(run, f"{DEPRESSION} --no-clean --out before.parquet")
    before = pl.read_parquet("before.parquet")
    assert "[deleted]" in before["user"]
    assert before.filter(pl.col("user") == QUOTER)["score"][0] > 0


def test_the_guess_and_the_model_are_kept_with_the_state_and_used_again(run: Run) -> None:
    _, err = answer(run, f"assess export.csv --state s {VOICE}")
    assert "background learnt from these posts" in err
    kept = {str(each) for each in Path().rglob("s*") if each.name != "small.csv"}
    assert kept == {"s", "s.model", "s.reading.json"}
    assert is_private("s", "s.reading.json", *map(str, Path("s.model").iterdir()))
    assert json.loads(Path("s.reading.json").read_text())["columns"]["user"] == "author"
    write_export(Path("more.csv"), rows=300, seed=1)
    again = "assess more.csv --state s --out r.jsonl"
    _, err = answer(run, again)
    assert "taken from the file" not in err
    assert "background" not in err
    first = json.loads(Path("r.jsonl").read_text().splitlines()[0])
    assert (first["measure"], first["rank"]) == ("voice-t", 1)
    assert "is not learnt again" in done(run, f"forget s --user {QUOTER}")
    Path("s.model/weights.npy").write_bytes(b"damaged")
    assert run(*again.split())[0] == 2
    assert "s.model" in run(*again.split())[2]


def test_states_of_unlike_models_or_cleaning_do_not_merge(run: Run) -> None:
    write_export(Path("more.csv"), rows=600, seed=1)
    done(run, f"assess small.csv --state s {VOICE}")
    done(run, f"assess more.csv --state other {VOICE}")
    done(run, f"assess more.csv --state raw --model s.model {VOICE} --no-clean")
    done(run, f"assess more.csv --state like --model s.model {VOICE}")
    refused(run, "assess --state s --merge other --out r.csv", "the models differ")
    refused(run, "assess --state s --merge raw --out r.csv", "cleaned")
    done(run, "assess --state s --merge like --out r.csv")


def test_a_user_gets_their_reasons_at_the_first_try(run: Run, export: ForumExport) -> None:
    words = f"explain export.csv --user {export.afflicted[0]} --topic Depression"
    why = asked(run, words)
    assert why["posts"]
    assert why["words"]
    if why["leaving"] is not None:
        left = " ".join(f"--without {post}" for post in why["leaving"]["posts"])
        then = asked(run, f"{words} {left}")["without"]
        assert then["rank"] is None or then["rank"] > why["rank"]


def test_a_lone_user_can_explain(run: Run) -> None:
    rows = "".join(f"me,2024-01-{day:02},I feel depressed again today\n" for day in range(1, 20))
    Path("mine.csv").write_text("author,date,message\n" + rows)
    why = asked(run, "explain mine.csv --user me --topic depression --measure bow-t")
    assert (why["rank"], why["users"]) == (1, 1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--out ranks.xlsx", "must end in .csv, .parquet or .jsonl"),
        ("--out ranks", "got no ending"),
        ("--topic depresion", "Did you mean 'depression'?"),
        ("--topic helth", "or a domain"),
        ("--measure voice-tt", "Did you mean 'voice-t'?"),
        ("--fields text=boddy", "Did you mean 'body'?"),
        ("--mode paper --clean --measure bow", "without cleaning"),
        ("--day-first --month-first", "contradict"),
        ("--delimiter ::", "one ASCII character"),
        ("--people", "--people needs --report"),
    ],
)
def test_what_is_refused_says_what_to_do(run: Run, given: str, said: str) -> None:
    code, _, err = run("assess", "export.csv", *given.split())
    assert code == 2
    assert said in err


def test_authors_that_are_all_nobody_are_refused_with_a_sentence(run: Run) -> None:
    rows = "".join(f"[deleted],2024-01-0{day},I feel sad\n" for day in range(1, 9))
    Path("gone.csv").write_text("author,created_at,body\n" + rows)
    code, _, err = run(*["assess", "gone.csv", "--measure", "bow-t"])
    assert code == 2
    assert "8 posts without a person as author" in err
    assert "--no-clean" in err


def test_a_run_that_drops_most_rows_says_so_loudly(run: Run) -> None:
    rows = "".join(f"u{n},yesterday,I feel sad\n" for n in range(30))
    some = "".join(f"u{n},2024-01-02,I feel sad\n" for n in range(5))
    Path("bad.csv").write_text(f"user,time,text\n{rows}{some}")
    out, err = answer(run, "assess bad.csv --measure bow-t --json")
    assert "MOST ROWS WERE LEFT OUT, 30 of 35" in err
    assert json.loads(out)["skipped"] == {"unreadable time": 30}


def test_a_report_names_nobody_unless_asked_and_then_it_is_logged(
    run: Run, exports: tuple[Path, ForumExport, ForumExport]
) -> None:
    people = {row[1] for row in exports[2].rows}
    words = "assess small.csv --topic health --report report.html"
    _, err = answer(run, words)
    page = Path("report.html").read_text()
    assert "names nobody" in err
    assert not [name for name in people if name in page]
    assert "depression" in page
    assert "src=" not in page
    _, err = answer(run, f"{words} --people")
    named = Path("report.html").read_text()
    assert [name for name in people if name in named]
    assert "logged in report.html.log" in err
    assert json.loads(Path("report.html.log").read_text())["event"] == "report with people"
    assert is_private("report.html", "report.html.log")


def test_a_report_does_not_tell_numbers_of_a_few_people(run: Run) -> None:
    report = "--measure keyword-kinds --report report.html"
    done(run, f"assess small.csv --topic depression {report}")
    page = Path("report.html").read_text()
    cells = [cell.split("</td>")[0] for cell in page.split("<td>")[1:]]
    assert "fewer than 5" in cells
    assert not {"1", "2", "3", "4"} & set(cells)
