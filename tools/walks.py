"""Which files of the package five everyday walks pass, by tracing the commands themselves.

The commands are the same before and after the package is laid out again, so the counts of two
checkouts can be compared. Each runs on a tiny input, without compilation, so that kernels count.
"""

import csv
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote_plus, urlencode, urlsplit

PACKAGE = "sottovoce"
COMMANDS = f"{PACKAGE}.cli"
PEERS = ("ada", "ben", "cy")
WAIT_S = 120.0
PAGE = Path(__file__).parents[1] / "ARCHITECTURE.md"
TITLES = {
    "post": "A post to its rank",
    "document": "A document to the disk",
    "text": "A text to its label, among parties",
    "what_if": "A what-if on the page",
    "count": "A count of whole documents",
}
_TRACE = Path(__file__).with_name("walk_trace.py")
_DOCUMENTS = [(("kitchen", "flour"), ("garden", "rose"))[at % 2] for at in range(40)]


@dataclass(frozen=True)
class Walk:
    """The files that something passes, and the functions by when they are first called."""

    files: set[str]
    functions: list[str]


@dataclass(frozen=True)
class Checkout:
    """The package under one source folder, and a scratch folder to run its commands in."""

    source: Path
    scratch: Path

    def run(self, *arguments: str) -> None:
        """Run a command to its end, unseen."""
        self._run([sys.executable, "-m", COMMANDS, *arguments], compiled=True)

    def traced(self, trace: str, target: str, *arguments: str) -> None:
        """Run a module or script to its end, and keep which files it passes."""
        self._run(self.command(trace, target, *arguments), compiled=False)

    def _run(self, command: Sequence[str], *, compiled: bool) -> None:
        environment = self._environment(compiled=compiled)
        done = subprocess.run(
            command, env=environment, cwd=self.scratch, capture_output=True, check=False
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()[-400:]
            raise RuntimeError(f"{' '.join(command[-4:])} must end well, got: {said}")

    def command(self, trace: str, target: str, *arguments: str) -> list[str]:
        """What runs a module or script under the trace."""
        folder = self.source / PACKAGE
        return [sys.executable, str(_TRACE), f"{trace}.files", str(folder), target, *arguments]

    @contextmanager
    def running(
        self, trace: str, *arguments: str, home: str = "home"
    ) -> Iterator["subprocess.Popen[str]"]:
        """Run a command of ours for a while, traced, then ask it to stop."""
        with subprocess.Popen(
            self.command(trace, COMMANDS, *arguments),
            env=self._environment(compiled=False, home=home),
            cwd=self.scratch,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.terminate()

    def passed(self, trace: str) -> "Walk":
        """What all processes of a trace passed together."""
        calls: dict[str, int] = {}
        files = set()
        for line in (self.scratch / f"{trace}.files").read_text(encoding="utf-8").splitlines():
            name, called, at = line.split("\t")
            files.add(name)
            function = f"{name.removesuffix('.py').replace('/', '.')}.{called}"
            calls[function] = min(int(at), calls.get(function, int(at)))
        return Walk(files, sorted(calls, key=calls.__getitem__))

    def _environment(self, *, compiled: bool, home: str = "home") -> dict[str, str]:
        interpreted = {} if compiled else {"NUMBA_DISABLE_JIT": "1"}
        # Ledgers of the user's own would be asked, and noted.
        own = dict.fromkeys(("HOME", "XDG_STATE_HOME"), str(self.scratch / home))
        return {**os.environ, **own, "PYTHONPATH": str(self.source), **interpreted}


def trace_walks(source: Path) -> dict[str, Walk]:
    """The files that a post, a document, a text, a what-if and a count pass, in this order."""
    with TemporaryDirectory() as folder:
        checkout = Checkout(source, Path(folder))
        write_inputs(checkout)
        text, count = learn(checkout)
        return {
            "post": post(checkout),
            "document": document(checkout),
            "text": text,
            "what_if": what_if(checkout),
            "count": count,
        }


def read_stops(page: str) -> dict[str, list[str]]:
    r"""The named stops of each walk on the page of the architecture, in their order.

    >>> read_stops("### A post to its rank (40 files)\n\n1. `cli.a.b`: it begins\n")
    {'post': ['cli.a.b']}
    """
    found = {}
    for name, title in TITLES.items():
        _, _, after = page.partition(f"### {title} (")
        stops = after.partition("\n#")[0]
        found[name] = re.findall(r"^\d\. `(.+?)`", stops, re.MULTILINE)
    return {name: stops for name, stops in found.items() if stops}


def find_missed_stops(walk: Walk, stops: Sequence[str]) -> list[str]:
    """The stops that a walk does not pass, or passes out of their order.

    >>> find_missed_stops(Walk(set(), ["a.b", "c.d", "e.f"]), ["c.d", "a.b", "x.y"])
    ['a.b', 'x.y']
    """
    at, missed = -1, []
    for stop in stops:
        place = walk.functions.index(stop) if stop in walk.functions else -1
        if place <= at:
            missed.append(stop)
        at = max(at, place)
    return missed


def write_counts(page: str, counts: Mapping[str, int]) -> str:
    """The page with the number of files of each walk.

    >>> write_counts("### A post to its rank (0 files)", {"post": 40})
    '### A post to its rank (40 files)'
    """
    for name, count in counts.items():
        title = re.escape(TITLES[name])
        page = re.sub(rf"(### {title}) \(\d+ files\)", rf"\1 ({count} files)", page)
    return page


def main() -> None:
    """Trace the five walks, write their files into the page, and say which stops they miss."""
    page = PAGE.read_text(encoding="utf-8")
    traced = trace_walks(PAGE.parent / "src")
    PAGE.write_text(
        write_counts(page, {name: len(walk.files) for name, walk in traced.items()}),
        encoding="utf-8",
    )
    for name, stops in read_stops(page).items():
        walk = traced[name]
        print(
            f"{name}: {len(walk.files)} files; missed: {find_missed_stops(walk, stops) or 'none'}"
        )


def write_inputs(checkout: Checkout) -> None:
    """A simulated community, a word list and labelled documents."""
    checkout.run("simulate", "community", "--users", "50", "--weeks", "4", "--seed", "7")
    words = sorted({word for _, word in _DOCUMENTS} | {"some", "words", "here"})
    (checkout.scratch / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    write_documents(checkout.scratch / "texts.csv")


def write_documents(path: Path) -> None:
    """Labelled documents, as a peer holds them."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("label", "text"))
        rows.writerows((label, f"some {word} here") for label, word in _DOCUMENTS)


def post(checkout: Checkout) -> Walk:
    """From the file of posts to the file of ranks."""
    how = ("--topics", "community/topics.toml", "--measure", "bow-dt", "--out", "ranks.parquet")
    checkout.traced("post", COMMANDS, "assess", "community/posts.parquet", *how)
    return checkout.passed("post")


def document(checkout: Checkout) -> Walk:
    """From the file of documents to the release's folder and ledger."""
    promise = ("--vocabulary", "words.txt", "--epsilon", "2", "--precision", "2")
    checkout.traced("document", COMMANDS, "release", "texts.csv", *promise, "--out", "released")
    return checkout.passed("document")


def learn(checkout: Checkout) -> tuple[Walk, Walk]:
    """A text to its label, and to a count: every party a process, all of them together."""
    checkout.run("learn", "init", "all", "--names", ",".join(PEERS))
    for name in PEERS:
        write_documents(checkout.scratch / "all" / name / "texts.csv")
    train = ("learn", "train", "--config", "all/coordinator/party.toml")
    classify = ("learn", "classify", "texts.csv", "--config", "all/ada/party.toml")
    _among_parties(checkout, "text", train, classify)
    counts = ("learn", "count", "--config", "all/coordinator/party.toml", "--words", "words.txt")
    _among_parties(checkout, "count", (*counts, "--epsilon", "1", "--votes", "2"))
    return checkout.passed("text"), checkout.passed("count")


def _among_parties(checkout: Checkout, trace: str, *commands: Sequence[str]) -> None:
    roles = {"coordinator": "coordinator", **dict.fromkeys(PEERS, "peer")}
    with ExitStack() as parties:
        for name, role in roles.items():
            config = f"all/{name}/party.toml"
            party = ("learn", role, "--config", config)
            # Each is a user of its own: no other's ledger is asked.
            parties.enter_context(checkout.running(trace, *party, home=f"home-{name}"))
        for name in roles:
            config = f"all/{name}/party.toml"
            checkout.run("learn", "status", "--config", config, "--wait", "100")
        for command in commands:
            checkout.traced(trace, COMMANDS, *command)


def what_if(checkout: Checkout) -> Walk:
    """The request of a what-if alone, on the advisor's page."""
    options = ("--no-open", "--json", "--store", "page.sqlite")
    with checkout.running("what_if", "advise", *options) as process:
        page = Page(json.loads(_first_line(process))["address"])
        page.bring("It was a hard week.\n\nI saw a doctor about my debts.")
        topic = page.first_topic()
        # Forgets what was passed so far.
        process.send_signal(signal.SIGUSR1)
        time.sleep(1)
        asked = {"topic": topic, "shown": [1, 2], "kept": [2]}
        page.ask("PUT", "/api/what-if", json.dumps(asked), "application/json")
    return checkout.passed("what_if")


def _first_line(process: "subprocess.Popen[str]") -> str:
    if process.stdout is None:
        raise RuntimeError("the process must have a pipe for its output, got none.")
    return process.stdout.readline()


class Page:
    """The advisor's page, asked as its own script asks it."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._host, self._cookie = parts.netloc, ""
        answer, _ = self._answer("GET", f"{parts.path}?{parts.query}", "", {})
        self._cookie = (answer.headers["set-cookie"] or "").partition(";")[0]

    def bring(self, posts: str) -> None:
        """Paste posts."""
        body = urlencode({"posts": posts})
        self.ask("POST", "/start/paste", body, "application/x-www-form-urlencoded")

    def first_topic(self) -> str:
        """The first topic that the page tells of."""
        found = re.search(r'"/topic\?name=([^"]+)"', self.ask("GET", "/standing"))
        if found is None:
            raise RuntimeError("the page must link to a topic, got none.")
        return unquote_plus(found[1])

    def ask(self, method: str, path: str, body: str = "", kind: str = "text/plain") -> str:
        """What the page answers."""
        headers = {
            "Content-Type": kind,
            "Cookie": self._cookie,
            "Origin": f"http://{self._host}",
            "Sec-Fetch-Site": "same-origin",
        }
        answer, content = self._answer(method, path, body, headers)
        if answer.status not in {200, 303}:
            raise RuntimeError(f"the page must answer {path} with 200 or 303, got {answer.status}.")
        return content

    def _answer(
        self, method: str, path: str, body: str, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, str]:
        connection = http.client.HTTPConnection(self._host, timeout=WAIT_S)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        content = answer.read().decode()
        connection.close()
        return answer, content


if __name__ == "__main__":
    main()
