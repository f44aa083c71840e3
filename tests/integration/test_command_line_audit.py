"""The commands around a release as their users meet them: audit, ledger, bench."""

import json
import sqlite3
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.shown import Run

from sottovoce.privacy.audit.black_box import TRIALS
from sottovoce.privacy.audit.findings import AuditReport, Finding
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import SpendRequest
from sottovoce.privacy.ledger.ledger import Ledger
from sottovoce.release.audit import CONTROLS

CORPUS = "c0ffee" * 8


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A budget of 1/3 at N = 2, a sixth of which is spent, the output stored."""
    path = tmp_path / "private.ledger"
    opened = Ledger(path, create=True)
    opened.set_budget(CORPUS, LimitedPrecision(2, "1/3"))
    spent = LimitedPrecision(4, "1/9")
    opened.release(SpendRequest("first", CORPUS, spent), lambda file: _write(file, b"noised"))
    opened.close()
    return path


def _write(file: Path, content: bytes) -> None:
    file.write_bytes(content)


@pytest.mark.parametrize("trials", [1 << 19, pytest.param(TRIALS, marks=pytest.mark.long)])
def test_the_sampler_passes_its_audit(
    run: Run, trials: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce.privacy.audit.black_box.TRIALS", trials)
    code, out, err = run("audit", "--json")
    report = json.loads(out)
    assert (code, err) == (0, "")
    assert report["holds"] is True
    bounds = {f["name"]: f["claim"] for f in report["findings"] if f["bound"] is not None}
    assert bounds["neighbours: one word"] == 0.5
    assert bounds["neighbours: N words"] == 1.0
    assert all(0.9 < f["tightness"] <= 1 for f in report["findings"] if f["tightness"])


@pytest.mark.usefixtures("small_audits")
def test_the_claim_to_audit_can_be_stated(run: Run) -> None:
    code, out, _ = run("audit", "--sampler", "--epsilon", "3/2", "--precision", 1, "--json")
    claims = {f["name"]: f["claim"] for f in json.loads(out)["findings"]}
    assert code == 0
    assert claims["neighbours: N words"] == 1.5


@pytest.mark.parametrize("name", CONTROLS)
def test_every_control_is_refuted_with_exit_code_1(run: Run, name: str) -> None:
    code, out, err = run("audit", "--control", name)
    assert code == 1
    assert "FAILS" in out
    assert err.startswith("the claim does not hold: ")
    assert err.count("\n") == 1
    code, out, _ = run("audit", "--control", name, "--json")
    assert code == 1
    assert json.loads(out)["holds"] is False


def audit_with(monkeypatch: pytest.MonkeyPatch, finding: Finding) -> list[Path]:
    """Let the audit of any folder find ``finding``; the folders asked for."""
    asked: list[Path] = []
    module = ModuleType("sottovoce.release.audit")

    def audit_release(folder: Path) -> AuditReport:
        asked.append(folder)
        return AuditReport((finding,))

    vars(module)["audit_release"] = audit_release
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return asked


@pytest.mark.parametrize(("holds", "expected"), [(True, 0), (False, 1)])
def test_a_release_is_audited_by_its_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holds: bool, expected: int
) -> None:
    seen = Finding("card", holds, "seen", claim=1.0, bound=float("-inf"))
    asked = audit_with(monkeypatch, seen)
    code, out, _ = run("audit", "--release", tmp_path, "--json")
    assert (code, asked) == (expected, [tmp_path])
    found = {"name": "card", "holds": holds, "claim": 1.0, "bound": None, "tightness": None}
    assert json.loads(out) == {"holds": holds, "findings": [{**found, "detail": "seen"}]}


def test_a_missing_module_of_ours_is_a_defect_and_no_extra(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sottovoce.release.audit", None)
    code, _, err = run("audit")
    assert code == 70
    assert "pip install" not in err


def test_a_missing_package_names_its_extra(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_size: float) -> None:
        raise ModuleNotFoundError(name="sklearn")

    monkeypatch.setattr("sottovoce_lab.bench.release.bench_release", broken)
    code, _, err = run("bench", "release")
    assert code == 2
    assert "pip install 'sottovoce[release]'" in err


def test_the_ledger_shows_exact_ratios_and_rounds_against_us(run: Run, ledger: Path) -> None:
    code, out, _ = run("ledger", "show", ledger, "--json")
    (account,) = json.loads(out)["accounts"]
    assert code == 0
    assert account["corpus"] == CORPUS
    assert account["budget"]["epsilon"] == "1/3"
    assert account["spent"]["epsilon"] == "1/18"
    assert account["left"]["epsilon"] == "5/18"
    assert account["spent"]["epsilon_rounded_up"] >= 1 / 18
    assert account["left"]["epsilon_rounded_down"] <= 5 / 18
    (spend,) = account["spends"]
    assert (spend["request"], spend["guarantee"]["epsilon"]) == ("first", "1/9")
    assert spend["output"]["bytes"] == len(b"noised")


def test_the_ledger_shows_people_its_accounts_and_spends(
    run: Run, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    code, out, _ = run("ledger", "show", ledger)
    assert code == 0
    assert CORPUS[:12] in out
    assert CORPUS[:13] not in out
    for amount in ("0.333334", "0.0555556", "0.277777", "0.111112", "first"):
        assert amount in out


def test_a_ledger_without_budgets_says_so(run: Run, tmp_path: Path) -> None:
    Ledger(tmp_path / "new", create=True).close()
    code, out, _ = run("ledger", "show", tmp_path / "new")
    assert (code, out) == (0, "No corpus has a budget in this ledger.\n")


@pytest.mark.parametrize("kind", ["absent", "empty", "text", "other database"])
def test_what_is_no_ledger_is_refused_and_left_alone(run: Run, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    if kind == "empty":
        path.touch()
    elif kind == "text":
        path.write_text("not a ledger\n" * 100)
    elif kind == "other database":
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE x (y)")
        connection.close()
    before = path.read_bytes() if path.exists() else None
    code, out, err = run("ledger", "show", path)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ([] if before is None else ["file"])
    assert before == (path.read_bytes() if path.exists() else None)


@pytest.mark.parametrize("name", ["noise", "release"])
def test_benches_of_the_release_print_rows(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    asked: list[int] = []
    row = {"bench": name, "case": "c", "unit": "u", "ours": 2.0, "peer": "p"}

    def measured(size: int) -> list[dict[str, object]]:
        asked.append(size)
        return [{**row, "theirs": None, "ratio": None}] * 2

    monkeypatch.setattr(f"sottovoce_lab.bench.{name}.bench_{name}", measured)
    code, out, _ = run("bench", name, "--size", 2000, "--json")
    assert (code, asked) == (0, [2000])
    assert json.loads(out) == [{**row, "theirs": None, "ratio": None}] * 2
    code, out, _ = run("bench", name)
    assert code == 0
    assert out.count("p is not installed; to compare with it: make peers") == 1, "said once"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit", "--sampler", "--control", "float-noise"], "give only one of --sampler"),
        (["audit", "--control", "float-noise", "--epsilon", "1"], "are the sampler's"),
        (["audit", "--control", "nothing"], "control must be one of paper-accounting"),
        (["audit", "--epsilon", "0"], "epsilon must be > 0"),
        (["audit", "--epsilon", ""], "epsilon must be a number"),
        (["audit", "--epsilon", "nan"], "epsilon must be a finite number"),
        (["audit", "--precision", "0"], "--precision must lie between 1 and 1000, got 0"),
        (["audit", "--precision", "1001"], "--precision must lie between 1 and 1000"),
        (["bench", "noise", "--size", "10"], "--size must be at least 1,000 samples"),
        (["bench", "release", "--size", "nan"], "--size must be at least 100 documents"),
        (["bench", "nothing"], "bench must be one of tokenize, noise, release, analyse"),
        (["ledger", "burn"], "No such command"),
        (["ledger", "show"], "there is no ledger at"),
    ],
)
def test_bad_usage_ends_with_exit_code_2(run: Run, arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())


@pytest.mark.usefixtures("small_audits")
def test_a_folder_is_audited_against_its_texts_in_figures(run: Run, tmp_path: Path) -> None:
    corpus, out = tmp_path / "notes.csv", tmp_path / "out"
    corpus.write_text("body\n" + "a loan and a boat\nno debt\n" * 40)
    (tmp_path / "words").write_text("loan\nboat\ndebt\n")
    reading = ("--fields", "text=body", "--json")
    made = run(
        *("release", corpus, "--vocabulary", tmp_path / "words", "--epsilon", 1, "-N", 2),
        *("--out", out, "--ledger", tmp_path / "ledger", *reading),
    )
    assert made[0] == 0, made
    code, told, err = run("audit", "--release", out, "--texts", corpus, *reading)
    names = [finding["name"] for finding in json.loads(told)["findings"]]
    assert (code, err) == (0, "")
    assert names[:2] == ["a row looked for by its text", "a whole row of the mean length"]
    assert names[2] == "noise that is the law's at every true count (given the texts)"
    assert "loan" not in told
    code, _, err = run("audit", "--texts", corpus)
    assert code == 2
    assert "--texts needs --release" in err
