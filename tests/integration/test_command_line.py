"""Commands as their users meet them."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from scipy import sparse
from support.demos import SIZES, quick_demo
from support.shown import Run
from support.warm_python import run_warm

from sottovoce.cli import main
from sottovoce.demo import demo
from sottovoce.errors import MissingExtraError
from sottovoce.report.page import Section

PRIVATE = "veryprivatesentence"
POSTS = f"user,time,text\nann,2024-01-01,{PRIVATE} one\nbob,2024-01-09,two three\n"


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    path = tmp_path / "posts.csv"
    path.write_text(POSTS)
    return path


def test_simulate_is_the_same_for_the_same_seed(run: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        arguments = (tmp_path / name, "--users", 60, "--weeks", 3, "--seed", 5, "--json")
        code, out, _ = run("simulate", *arguments)
        assert code == 0
        assert json.loads(out)["users"] == 60
    files = ["background.parquet", "posts.parquet", "topics.toml", "truth.parquet"]
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == files
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_simulate_shows_people_a_table(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("simulate", tmp_path, "--users", 60, "--weeks", 3, "--difficulty", "hard")
    assert code == 0
    assert "afflicted" in out
    assert "financial debts" in out


def test_describe_counts_people_posts_and_words_without_showing_any(run: Run, posts: Path) -> None:
    facts = run("describe", posts, "--json").json
    assert (facts["users"], facts["posts"], facts["words"]) == (2, 2, 4)
    assert facts["posts_by_week"] == {"2024-01-01": 1, "2024-01-08": 1}
    code, out, _ = run("describe", posts)
    assert code == 0
    assert "ann" not in out
    assert PRIVATE not in out


def test_describe_checks_the_truth_against_the_posts(run: Run, posts: Path, tmp_path: Path) -> None:
    truth = tmp_path / "truth.csv"
    rows = ["ann,hiv,bystander,false,0", "zoe,hiv,afflicted,true,0.9"]
    truth.write_text("\n".join(["user,topic,persona,sensitive,grade", *rows]))
    code, out, _ = run("describe", posts, "--truth", truth, "--json")
    assert code == 0
    assert json.loads(out)["truth_users_without_posts"] == 1
    assert json.loads(out)["post_users_without_truth"] == 1


def test_count_writes_a_matrix_and_its_vocabulary_for_the_owner_only(
    run: Run, posts: Path, tmp_path: Path
) -> None:
    assert (
        run("count", posts, "--out", tmp_path / "c", "--json").json["words_chosen_by_the_data"]
        is True
    )
    matrix = sparse.load_npz(tmp_path / "c" / "counts.npz")
    header, *terms = (tmp_path / "c" / "vocabulary.txt").read_text().split()[-4:]
    assert [header, *terms] == ["one", "three", "two", PRIVATE]
    assert matrix.toarray().tolist() == [[1, 0, 0, 1], [0, 1, 1, 0]]
    for path in (tmp_path / "c").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_count_by_a_public_list_with_stop_words_and_stems(
    run: Run, posts: Path, tmp_path: Path
) -> None:
    (tmp_path / "list.txt").write_text("two\nthree\none\n")
    (tmp_path / "stop.txt").write_text("Three\n")
    lists = ("--vocabulary", tmp_path / "list.txt", "--stop-words", tmp_path / "stop.txt")
    code, out, err = run("count", posts, "--out", tmp_path / "c", *lists, "--stem", "english")
    assert code == 0
    assert "words chosen by the data    no" in out
    assert "1 of the vocabulary's 3 terms become equal or disappear" in err
    matrix = sparse.load_npz(tmp_path / "c" / "counts.npz")
    assert matrix.toarray().tolist() == [[0, 1], [1, 0]]


def test_skipped_rows_are_told_on_standard_error(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    path.write_bytes(POSTS.encode() + "cyd,noon,é\n".encode() + b"dan,2024-01-02,caf\xe9\n")
    code, out, err = run("describe", path, "--json")
    assert code == 0
    assert "skipped 1 of 4 rows: unreadable time" in err
    assert "repaired 1 text" in err
    assert json.loads(out)["skipped"] == {"unreadable time": 1}


def test_columns_header_and_format_can_be_named(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("ann\t2024-01-01\thello there\n")
    options = ("--format", "tsv", "--header", "who,when,what")
    mapping = ("--fields", "user=who,time=when,text=2")
    assert run("describe", path, *options, *mapping, "--json").json["words"] == 2


def test_demo_writes_a_report_and_says_where(
    run: Run, tmp_path: Path, demo_report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What needs no training is the same for one seed; the noise of a release never is."""
    page = demo_report.read_text(encoding="utf-8")
    assert page.count("<svg") == 10
    assert "This part was left out" not in page
    make_part, left_out = demo.make_part, {"_release", "_learn", "_loop"}

    def make_some(module: str, *given: Any) -> tuple[Section, ...]:  # noqa: ANN401 - as they come
        if module in left_out:
            raise MissingExtraError("tomotopy", "topics")
        return make_part(module, *given)

    monkeypatch.setattr(demo, "make_part", make_some)
    arguments = ("demo", "--out", tmp_path / "d", "--users", SIZES.users, "--weeks", SIZES.weeks)
    with quick_demo():
        code, out, err = run(*arguments)
    assert code == 0
    assert str(tmp_path / "d" / "report.html") in out.replace("\n", "")
    assert " ".join(err.split()).count("tomotopy is not installed; this needs it.") == 3
    release = page.index('id="what-a-release')
    repeated = (tmp_path / "d" / "report.html").read_text(encoding="utf-8")
    assert repeated[:release] == page[:release]
    assert repeated.count("This part was left out: tomotopy is not installed") == 3
    left_out.add("_assess")
    code, out, _ = run(*arguments, "--json")
    told = json.loads(out)
    assert (code, told["report"]) == (0, str(tmp_path / "d" / "report.html"))
    assert list(told["left_out"]) == ["Who stands out", RELEASE, LEARN, LOOP]


RELEASE = "What a release promises and costs"
LEARN = "How four train one classifier and keep their texts"
LOOP = "Assess, release, assess again"


def demo_without(package: str, folder: Path) -> subprocess.CompletedProcess[str]:
    arguments = ["sottovoce", "demo", "--users", "100", "--weeks", "4"]
    source = (
        f"import sys; sys.modules[{package!r}] = None; sys.argv = {arguments}; "
        "from sottovoce.cli import main; main()"
    )
    # Not forked from a process that has imported it.
    return subprocess.run(
        [sys.executable, "-c", source], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_demo_without_what_draws_says_what_to_install(tmp_path: Path, package: str) -> None:
    done = demo_without(package, tmp_path)
    assert done.returncode == 2
    assert "is not installed; this needs it. Run: pip install 'sottovoce[" in done.stderr


@pytest.mark.parametrize(
    ("package", "left_out", "kept"),
    [
        ("tomotopy", ["Who stands out", RELEASE, LOOP], 3),
        ("gensim", ["Who stands out"], 7),
        ("sklearn", [RELEASE, LOOP], 6),
    ],
)
@pytest.mark.long
def test_demo_without_an_extra_of_one_part_goes_on_with_the_others(
    tmp_path: Path, package: str, left_out: list[str], kept: int
) -> None:
    done = demo_without(package, tmp_path)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stderr.split())
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    for part in left_out:
        assert f"Left out: {part}: {package} is not installed" in told
        assert f">{part}</h2>" in page
    assert told.count("Left out") == len(left_out)
    assert page.count(f"This part was left out: {package} is not installed") == len(left_out)
    assert page.count("<svg") == kept


BAD_FILES: dict[str, tuple[str, bytes, str]] = {
    "missing column": ("posts.csv", b"user,place,text\na,Rome,x\n", "time"),
    "every time unreadable": (
        "posts.csv",
        f"user,time,text\na,noon,{PRIVATE}\n".encode(),
        "no usable row: .*unreadable time",
    ),
    "wrong type": (
        "posts.jsonl",
        f'{{"user": ["a"], "time": 1, "text": "{PRIVATE}"}}\n'.encode(),
        "no usable row|must be",
    ),
    "utf-16": ("posts.csv", POSTS.encode("utf-16-le"), "UTF-16|encoding"),
    "not parquet": ("posts.parquet", f"PAR1{PRIVATE}PAR1".encode(), "damaged, cut short"),
    "empty": ("posts.csv", b"", "empty"),
    "only a header": ("posts.csv", b"user,time,text\n", "no usable row"),
    "unknown format": ("posts.xyz", b"x", "can't tell the format"),
}


# Counting needs the text only, so it takes a file whose users or times are useless.
FINE_TO_COUNT = {"missing column", "every time unreadable", "wrong type"}


@pytest.mark.parametrize(
    ("command", "case"),
    [("describe", case) for case in BAD_FILES]
    + [("count", case) for case in BAD_FILES if case not in FINE_TO_COUNT],
)
def test_bad_files_end_with_exit_code_2_and_no_output(
    run: Run, tmp_path: Path, case: str, command: str
) -> None:
    name, content, message = BAD_FILES[case]
    path = tmp_path / name
    path.write_bytes(content)
    out = () if command == "describe" else ("--out", tmp_path / "out")
    code, shown, err = run(command, path, *out)
    assert code == 2
    assert shown == ""
    assert re.search(message, err), err
    assert "Traceback" not in err
    assert PRIVATE not in err
    assert err.count("\n") == 1
    assert not [p for p in (tmp_path / "out").rglob("*") if p.is_file()]


def test_a_repeated_user_and_topic_in_the_truth_is_refused(
    run: Run, posts: Path, tmp_path: Path
) -> None:
    row = "ann,hiv,bystander,false,0"
    truth = tmp_path / "truth.csv"
    truth.write_text(f"user,topic,persona,sensitive,grade\n{row}\n{row}\n")
    code, _, err = run("describe", posts, "--truth", truth)
    assert code == 2
    assert "1 rows that repeat a (user, topic) pair" in err
    assert "ann" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "out", "--users", "1"], "users must be between"),
        (["simulate", "out", "--difficulty", "silly"], "difficulty must be one of"),
        (["bench", "nothing"], "bench must be one of tokenize"),
        (["describe", "none.csv"], "none.csv"),
        (["describe", "none.csv", "--fields", "user"], "--fields must look like"),
        (["describe", "none.csv", "--timezone", "Mars/Base"], "timezone must be an IANA name"),
        (["count", "none.csv", "--out", "o", "--stem", "klingon"], "stem must be one of"),
        (["count", "none.csv", "--out", "o", "--stop-words", "none"], "stop words must be one of"),
        (["count", "n", "--out", "o", "--vocabulary", "v", "--min-texts", "2"], "choose words"),
        (["nothing"], "No such command"),
        (["describe"], "Missing argument"),
    ],
)
def test_bad_usage_ends_with_exit_code_2(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run(*arguments)
    assert code == 2
    assert message in " ".join(err.split())
    assert list(tmp_path.iterdir()) == []


def test_a_defect_is_one_sentence_without_private_text(
    run: Run, posts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_batches: object) -> None:
        raise ValueError(PRIVATE)

    monkeypatch.setattr("sottovoce.corpus.summary.summarise_posts", broken)
    code, _, err = run("describe", posts)
    assert code == 70
    assert err.startswith("A defect in Sottovoce, sorry: ValueError at ")
    assert PRIVATE not in err
    monkeypatch.setenv("SOTTOVOCE_DEBUG", "1")
    monkeypatch.setattr(sys, "argv", ["sottovoce", "describe", str(posts)])
    with pytest.raises(ValueError, match=PRIVATE):
        main()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_no_half_written_file(
    run: Run, posts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def signalled(*_arguments: object) -> None:
        os.kill(os.getpid(), number)

    monkeypatch.setattr("sottovoce.corpus.counts.write_matrix", signalled)
    code, _, err = run("count", posts, "--out", tmp_path / "out")
    assert code == 128 + number
    assert err == "Stopped. Nothing was left half-written.\n"
    assert list((tmp_path / "out").iterdir()) == []


def test_a_signal_in_a_finaliser_still_stops_the_command(
    run: Run, posts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Finalised:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGTERM)

    def signalled(*_arguments: object) -> None:
        finalised = Finalised()
        del finalised
        time.sleep(10)

    monkeypatch.setattr("sottovoce.corpus.counts.write_matrix", signalled)
    code, _, err = run("count", posts, "--out", tmp_path / "out")
    assert code == 128 + signal.SIGTERM
    assert err == "Stopped. Nothing was left half-written.\n"


@pytest.mark.parametrize("delay_s", [0.4, 0.8, pytest.param(1.2, marks=pytest.mark.long)])
def test_ctrl_c_at_any_moment_ends_without_a_traceback(posts: Path, delay_s: float) -> None:
    command = [sys.executable, "-m", "sottovoce.cli", "count", str(posts), "--out", "out"]
    child = subprocess.Popen(command, cwd=posts.parent, stderr=subprocess.PIPE, text=True)
    time.sleep(delay_s)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate()
    assert "Traceback" not in err


def test_a_closed_pipe_ends_quietly(posts: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run_warm([sys.executable, "-m", "sottovoce.cli", "describe", posts], stdout=writer)
    os.close(writer)
    # What a shell tells as 141.
    assert done.returncode == -signal.SIGPIPE
    assert done.stderr == ""


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_full_disk_on_standard_output_is_bad_input_not_a_defect(
    posts: Path, as_json: list[str]
) -> None:
    command = [sys.executable, "-m", "sottovoce.cli", "describe", str(posts), *as_json]
    with Path("/dev/full").open("w") as full:
        done = run_warm(command, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "cannot go on: No space left on device.\n"


def test_names_of_folders_may_hold_anything(run: Run, posts: Path, tmp_path: Path) -> None:
    for name in ("[/bold]", "caf\u00e9"):
        code, out, _ = run("count", posts, "--out", tmp_path / name)
        assert code == 0
        assert name in out.replace("\n", "").replace(" ", "")


def test_a_folder_in_a_files_place_is_refused_before_anything_is_written(
    run: Run, posts: Path, tmp_path: Path
) -> None:
    (tmp_path / "out" / "vocabulary.txt").mkdir(parents=True)
    code, _, err = run("count", posts, "--out", tmp_path / "out")
    assert code == 2
    assert "vocabulary.txt: it is a folder" in err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["vocabulary.txt"]


@pytest.mark.parametrize("row", ["hiv positive", "anna,hiv positive,pregnant"])
def test_a_first_row_that_may_be_text_is_not_shown(run: Run, tmp_path: Path, row: str) -> None:
    (tmp_path / "posts.csv").write_text(f"{row}\n{row}\n")
    code, _, err = run("describe", tmp_path / "posts.csv")
    assert code == 2
    assert "hiv" not in err
    assert "(not shown)" in err
