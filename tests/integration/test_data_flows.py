"""The page of data flows names every file that the verbs write, with its mode, and no other."""

import inspect
import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import typer
from support.hidden_systems import BITS, small_keys_allowed
from support.ports import free_ports
from support.rank_processes import announced, browsing
from support.warm_python import warm_parties

from sottovoce.assess.state import parts as parts_module
from sottovoce.cli._app import app
from sottovoce.federation.config import load_config
from sottovoce.federation.join.folders import begin_join, finish_join
from sottovoce.federation.join.request import JoinToken
from sottovoce.federation.party._proposals import Joins, membership_of
from sottovoce.federation.party.control import running_parties
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.topics.training import Checkpoint

Run = Callable[..., tuple[int, str, str]]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "data-flows.md"
LEDGER = ("The ledger of release and learn", "Every ledger")
# Folders above ours, and a list of fonts that the plot library keeps.
NOT_OURS = re.compile(r"~/(\.local/((state|share)/)?)?|/tmp/|~/\.(cache|config)/.*")
# Harnesses of tests put what a party says on its terminal there.
HARNESS = re.compile(r"PARTY/stderr\.txt")
READ = {
    "the posts, documents, texts and words": {"posts", "corpus", "texts", "words", "counts"},
    "background knowledge": {"model", "topics", "embedding", "frequencies", "vocabulary", "edges"},
    "other states, and posts of a community": {"merge", "community"},
    "outputs, from which somebody is erased": {"places"},
    "what is moved": {"source"},
    "settings, keys and tokens": {
        "config", "authority", "rank_admission", "admission",
        "peer_key", "metrics_key", "certificate", "key",
    },
}  # fmt: skip
"""Paths among the options of the verbs that are read, and not written."""
MOVING = "Moving a ledger or a party"
WRITTEN = {"folder": "learn init", "update": "--update", "to": "learn move"}
"""Paths that are written and are no option, or are called otherwise in the list."""
_LINES = re.MULTILINE | re.DOTALL
VERBS = ("assess", "explain", "alerts", "forget", "release", "learn", "advise", "rank-server")


class Flow(NamedTuple):
    file: str
    mode: int
    made_by: str

    def matches(self, path: str) -> bool:
        return bool(re.fullmatch(re.escape(self.file).replace(r"\*", "[^/]+"), path))


def flows(*sections: str) -> list[Flow]:
    """The rows of these parts of the page."""
    text = PAGE.read_text(encoding="utf-8")
    parts = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, _LINES))
    rows = [
        [cell.strip() for cell in row[1:-1].split("|")]
        for section in sections
        for row in re.findall(r"^\| `.+\|$", parts[section], re.MULTILINE)
    ]
    assert rows
    assert all(len(row) == 5 for row in rows)
    return [flow for row in rows for flow in flows_of(*row[:3])]


def flows_of(names: str, modes: str, made_by: str) -> list[Flow]:
    """The files of one row: with a mode for each, in their order, or one for all."""
    files = re.findall(r"`([^`]+)`", names)
    each = [int(mode, 8) for mode in modes.split(", ")]
    each = each * len(files) if len(each) == 1 else each
    return [Flow(file, mode, made_by) for file, mode in zip(files, each, strict=True)]


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def named(path: Path, below: Path) -> str:
    """A path as the page calls it: a folder ends in a slash, whoever owns it."""
    name = path.relative_to(below).as_posix() + ("/" if path.is_dir() else "")
    name = re.sub(r"^together/state/\w+/", "~/.local/state/", name)
    name = re.sub(
        r"^(together|hidden|founded)/(ada|ben|cy|coordinator|key-holder)/", "PARTY/", name
    )
    name = re.sub(r"^hidden/", "together/", name)
    name = re.sub(r"-(wal|shm)$", "", name)
    name = re.sub(r"^home/", "~/", name)
    return re.sub(r"^(tmp/)", r"/\1", name)


def written(below: Path, inputs: set[Path]) -> dict[str, int]:
    """All that lies there now and was not there before, with its mode."""
    found = {named(path, below): mode_of(path) for path in below.rglob("*") if path not in inputs}
    skipped = re.compile(r"together/state/(\w+/)?|founded/|~/\.local/state/")
    return {
        name: mode
        for name, mode in found.items()
        if not any(each.fullmatch(name) for each in (NOT_OURS, HARNESS, skipped))
    }


def compare(found: dict[str, int], *sections: str) -> None:
    """Both ways: each file has its row and mode, and each row is there for a file."""
    rows = flows(*sections)
    umask = os.umask(0)
    os.umask(umask)
    unknown = {name for name in found if not any(row.matches(name) for row in rows)}
    assert not unknown, f"files that the page does not name: {sorted(unknown)}"
    idle = {row.file for row in rows if not any(row.matches(name) for name in found)}
    assert not idle, f"rows that nothing writes: {sorted(idle)}"
    other = {
        (name, oct(mode))
        for name, mode in found.items()
        for row in rows
        if row.matches(name) and mode != row.mode & ~umask
    }
    assert not other, f"modes that are other than the page says: {sorted(other)}"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of one's own: a home, a folder for temporary files, and where one stands."""
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "topics.toml").write_text(
        '[[topic]]\nname = "debt"\ndomain = "money"\nsensitive = true\nwords = ["debt", "loan"]\n'
    )
    rows = [f"u{at % 9},2024-0{1 + at % 6}-0{1 + at % 8},my debt and loan {at}" for at in range(40)]
    (tmp_path / "posts.csv").write_text("user,time,text\n" + "\n".join(rows) + "\n")
    (tmp_path / "more.csv").write_text("user,time,text\nu9,2024-07-01,my debt again\n")
    (tmp_path / "words.txt").write_text("debt\nloan\nsea\n")
    return tmp_path


def ran(run: Run, line: str) -> str:
    code, out, err = run(*line.split())
    assert code == 0, err
    return out


def test_assess_writes_what_the_page_says(
    place: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = (place / "posts.csv").read_text().replace("user,time,text", "author,time,body")
    (place / "export.csv").write_text(export)  # whose columns are guessed
    inputs = set(place.rglob("*"))
    monkeypatch.setattr(parts_module, "LEAST", 1)  # so that a small state is kept in parts, too
    monkeypatch.setattr(Checkpoint, "clear", lambda _self: None)  # as a run that was stopped
    asked = "--topics topics.toml --measure bow-t"
    ran(run, f"assess posts.csv {asked} --state community.state --checkpoint progress "
        "--checkpoint-every 0 --report community.html --out ranks.parquet")  # fmt: skip
    ran(run, "assess --state community.state --measure bow-t --report people.html --people")
    ran(run, "assess more.csv --update community.state")
    ran(run, "alerts community.state --measure bow-t --out entered.parquet")
    ran(run, "explain posts.csv --user u1 --topic debt --measure bow-t --topics topics.toml")
    ran(run, f"assess export.csv {asked} --out ranks.parquet")
    compare(written(place, inputs), "assess")


def test_release_writes_what_the_page_says(place: Path, run: Run) -> None:
    inputs = set(place.rglob("*"))
    ran(run, "release posts.csv --vocabulary words.txt --epsilon 2 --precision 2 --labels user "
        "--out released")  # fmt: skip
    compare(written(place, inputs), "release", *LEDGER)
    inputs = set(place.rglob("*"))
    ran(run, "ledger move home/.local/state/sottovoce/ledger carried.zip")
    compare(written(place, inputs), MOVING)


def test_learn_writes_what_the_page_says(place: Path, run: Run) -> None:
    inputs = set(place.rglob("*"))
    ran(run, "learn init together --names ada,ben,cy")
    with small_keys_allowed():
        ran(run, f"learn init hidden --names ada,ben,cy --mode hidden --key-bits {BITS}")
    inputs |= give_texts(place / "together")
    found = joined(place, run, inputs)
    with warm_parties(), running_parties(place / "together") as parties:
        config = "--config together/coordinator/party.toml"
        ran(run, f"learn count {config} --words words.txt --epsilon 1 --votes 3 --pairs "
            "--out x.counts")  # fmt: skip
        parties.settle()
        ran(run, f"learn train {config}")
        parties.settle()
        ran(run, "learn classify more.csv --config together/ada/party.toml --out labels.csv")
        found |= written(place, inputs)
    ran(run, "learn topics x.counts --topics 2 --out model")
    compare(found | written(place, inputs), "learn", *LEDGER)


def give_texts(together: Path) -> set[Path]:
    """Each peer's documents, where its settings look for them."""
    made = set()
    for name in ("ada", "ben", "cy"):
        rows = [f"spam,a debt of {name} {at} loan sea" for at in range(40)]
        rows += [f"ham,loan and sea of {name} {at}" for at in range(40)]
        path = together / name / "texts.csv"
        path.write_text("label,text\n" + "\n".join(rows) + "\n")
        made.add(path)
    return made


def joined(place: Path, run: Run, inputs: set[Path]) -> dict[str, int]:
    """A federation is founded, and a peer joins it; what is written on the way."""
    there, here = free_ports(2)
    ran(run, f"learn new founded/coordinator --listen 127.0.0.1:{there} --join 127.0.0.1:{here}")
    party = ConfiguredParty(load_config(place / "founded" / "coordinator" / "party.toml"))
    membership = membership_of(party, _no_log)
    assert membership is not None
    joins = Joins(party, membership, _no_log)
    answer = joins.invite({"name": "ada"})
    token = JoinToken.read(answer["token"])
    folder = place / "founded" / "ada"
    pending = begin_join(folder, token, "127.0.0.1:7450", "none", _no_log)
    found = written(place, inputs)
    joins.admit({"name": "ada", "string": pending.string})
    assert finish_join(folder, pending.string, 0, _no_log) is not None
    joins.close()
    membership.close()
    return found


def _no_log(_event: str, /, **_fields: object) -> None:
    pass


def test_advise_and_rank_servers_write_what_the_page_says(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = {*place.rglob("*")}
    monkeypatch.setenv("BROWSER", "/bin/true")
    asked = ("--topics", "topics.toml")
    server = ("rank-server", *asked, "--measure", "bow-t", "--port", 0, "--store", "rank.sqlite")
    with (
        announced(*server, "--log", "events.jsonl") as ranks,
        announced("advise", *asked, "--rank-server", ranks["url"], "--rank-budget", 1) as page,
    ):
        use_the_page(page["address"])
        found = written(place, inputs)
    compare(found | written(place, inputs), "advise", LEDGER[1])


def use_the_page(address: str) -> None:
    """Bring posts, report, and bring a file that is not understood."""
    with browsing(address) as browser:
        browser.post("/start/demo")
        browser.post("/start/paste", data={"posts": "2024-03-01 debts, a debt and loans"})
        said = browser.get("/report", params={"name": "debt"}).text
        agreed = re.findall(r'name="agreed" value="([0-9a-f]+)"', said)[0]
        form = {"name": "debt", "agreed": agreed, "agree": "yes"}
        assert browser.post("/report", data=form).is_redirect
        odd = {"file": ("export.csv", b"a,b\n1,2\n")}
        browser.post("/start/upload", files=odd)


def path_options(group: typer.Typer, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Each command's parameters that take a path."""
    for command in group.registered_commands:
        assert command.callback is not None
        for name, given in inspect.signature(command.callback).parameters.items():
            if "Path" in str(given.annotation) or name in {"store", "log"}:
                yield " ".join([*path, str(command.name)]), name
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from path_options(inner.typer_instance, (*path, str(inner.name)))


def test_every_option_of_the_verbs_that_names_a_file_is_read_or_in_the_list() -> None:
    sections = ("assess", "release", "learn", "advise", MOVING, *LEDGER)
    told = " ".join(row.made_by for row in flows(*sections))
    read = set().union(*READ.values())
    options = {
        (command, name)
        for command, name in path_options(app)
        if command.split()[0] in VERBS and name not in read
    }
    assert {name for _, name in options} >= {"out", "state", "store", "log", "ledger", "folder"}
    shown = {name: WRITTEN.get(name, f"--{name.replace('_', '-')}") for _, name in options}
    assert {name for name, words in shown.items() if words not in told} == set()


def test_a_file_a_row_and_a_mode_too_many_are_all_found() -> None:
    rows = {row.file.replace("*", "x"): row.mode for row in flows("assess")}
    compare(rows, "assess")
    with pytest.raises(AssertionError, match="does not name"):
        compare(rows | {"ranks.csv": 0o600}, "assess")
    with pytest.raises(AssertionError, match="nothing writes"):
        compare({name: mode for name, mode in rows.items() if name != "ranks.parquet"}, "assess")
    with pytest.raises(AssertionError, match="other than the page says"):
        compare(rows | {"ranks.parquet": 0o644}, "assess")
