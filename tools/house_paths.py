"""Which files of the package four everyday paths pass, by tracing the commands themselves.

The commands are the same before and after the package is laid out again, so the counts of two
checkouts can be compared. Each runs on a tiny input, without compilation, so that kernels count.
"""

import csv
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode, urlsplit

PACKAGE = "sottovoce"
COMMANDS = f"{PACKAGE}.cli"
PEERS = ("ada", "ben", "cy")
WAIT_S = 120.0
_TRACE = Path(__file__).with_name("house_trace.py")
_DOCUMENTS = [(("kitchen", "flour"), ("garden", "rose"))[at % 2] for at in range(40)]
_NOTEBOOK = """
import csv, sys
from sottovoce.learn import FederatedTextClassifier

rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8")))
held = [row["text"] for row in rows], [row["label"] for row in rows]
model = FederatedTextClassifier(dictionary="hashed", width=16, penalty=0.1)
print(model.fit({"ada": held, "ben": held, "cy": held}).predict(["a rose"]))
"""


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
    def running(self, trace: str, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
        """Run a command of ours for a while, traced, then ask it to stop."""
        with subprocess.Popen(
            self.command(trace, COMMANDS, *arguments),
            env=self._environment(compiled=False),
            cwd=self.scratch,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.terminate()

    def passed(self, trace: str) -> list[str]:
        """The files that all processes of a trace passed together."""
        return sorted(set((self.scratch / f"{trace}.files").read_text(encoding="utf-8").split()))

    def _environment(self, *, compiled: bool) -> dict[str, str]:
        interpreted = {} if compiled else {"NUMBA_DISABLE_JIT": "1"}
        return {**os.environ, "PYTHONPATH": str(self.source), **interpreted}


def paths(source: Path) -> dict[str, list[str]]:
    """The files that a post, a document, a text and a what-if pass."""
    with TemporaryDirectory() as folder:
        checkout = Checkout(source, Path(folder))
        write_inputs(checkout)
        return {
            "path of a post: assess to its rank, by words": post(
                checkout, "bow-dt", "--topics", "community/topics.toml"
            ),
            "path of a post: assess to its rank, by latent topics": post(
                checkout, "lda-dt", "--topics", "matched.toml", "--model", "model"
            ),
            "path of a document: release to disk": document(checkout),
            "path of a text: notebook to its label": text_in_notebook(checkout),
            "path of a text: learn train to its label": text_among_parties(checkout),
            **what_if(checkout),
        }


def write_inputs(checkout: Checkout) -> None:
    """A simulated community with a small model of it, a word list and labelled documents."""
    checkout.run("simulate", "community", "--users", "50", "--weeks", "4", "--seed", "7")
    small = ("--topics", "12", "--iterations", "10", "--workers", "1")
    checkout.run("topics", "train", "community/background.parquet", *small, "--out", "model")
    matched = ("--allow-unmatched", "--out", "matched.toml")
    checkout.run("topics", "match", "model", "community/topics.toml", *matched)
    words = sorted({word for _, word in _DOCUMENTS} | {"some", "words", "here"})
    (checkout.scratch / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    write_documents(checkout.scratch / "texts.csv")


def write_documents(path: Path) -> None:
    """Labelled documents, as a peer holds them."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("label", "text"))
        rows.writerows((label, f"some {word} here") for label, word in _DOCUMENTS)


def post(checkout: Checkout, measure: str, *given: str) -> list[str]:
    """From the file of posts to the file of ranks."""
    how = ("--measure", measure, "--out", f"{measure}.parquet")
    checkout.traced(measure, COMMANDS, "assess", "community/posts.parquet", *given, *how)
    return checkout.passed(measure)


def document(checkout: Checkout) -> list[str]:
    """From the file of documents to the release's folder and ledger."""
    promise = ("--vocabulary", "words.txt", "--epsilon", "2", "--precision", "2")
    checkout.traced("document", COMMANDS, "release", "texts.csv", *promise, "--out", "released")
    return checkout.passed("document")


def text_in_notebook(checkout: Checkout) -> list[str]:
    """All peers in one process."""
    (checkout.scratch / "_notebook.py").write_text(_NOTEBOOK, encoding="utf-8")
    checkout.traced("notebook", "_notebook.py", "texts.csv")
    return checkout.passed("notebook")


def text_among_parties(checkout: Checkout) -> list[str]:
    """Every party a process, all of them counted together."""
    checkout.run("learn", "init", "all", "--names", ",".join(PEERS))
    for name in PEERS:
        write_documents(checkout.scratch / "all" / name / "texts.csv")
    roles = {"coordinator": "coordinator", **dict.fromkeys(PEERS, "peer")}
    _among(checkout, roles)
    return checkout.passed("parties")


def _among(checkout: Checkout, roles: Mapping[str, str]) -> None:
    if not roles:
        _train(checkout)
        return
    name, *others = roles
    config = f"all/{name}/party.toml"
    with checkout.running("parties", "learn", roles[name], "--config", config):
        _among(checkout, {other: roles[other] for other in others})


def _train(checkout: Checkout) -> None:
    for name in ("coordinator", *PEERS):
        checkout.run("learn", "status", "--config", f"all/{name}/party.toml", "--wait", "100")
    train = ("learn", "train", "--config", "all/coordinator/party.toml")
    classify = ("learn", "classify", "texts.csv", "--config", "all/ada/party.toml")
    checkout.traced("parties", COMMANDS, *train)
    checkout.traced("parties", COMMANDS, *classify)


def what_if(checkout: Checkout) -> dict[str, list[str]]:
    """On the advisor's page: from its start, and for the one request alone."""
    _ask_what_if(checkout, "page", alone=False)
    _ask_what_if(checkout, "request", alone=True)
    return {
        "path of a what-if: advise to its answer": checkout.passed("page"),
        "path of a what-if: the request alone": checkout.passed("request"),
    }


def _ask_what_if(checkout: Checkout, trace: str, *, alone: bool) -> None:
    options = ("--no-open", "--json", "--store", f"{trace}.sqlite")
    with checkout.running(trace, "advise", *options) as process:
        page = Page(json.loads(_first_line(process))["address"])
        page.bring("It was a hard week.\n\nI saw a doctor about my debts.")
        topic = json.loads(page.ask("GET", "/api/standings"))[0]["topic"]
        if alone:
            process.send_signal(signal.SIGUSR1)
            time.sleep(1)
        asked = {"topic": topic, "shown": [1, 2], "kept": [2]}
        page.ask("PUT", "/api/what-if", json.dumps(asked), "application/json")


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
