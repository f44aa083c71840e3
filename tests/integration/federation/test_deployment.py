"""The guide's federation of own keys, on machines that share nothing but a wire."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from support.text_runs import made_texts
from support.warm_python import WarmPopen, run_warm

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "learn-joining.md"
HOSTS = {"c.example": "coordinator", "a.example": "ada", "b.example": "ben", "d.example": "cy"}
SHORT = f"sj{os.getpid() % 100_000}"
SUBNET = f"10.214.{os.getpid() % 250}"
FEATURES = 'dictionary = "hashed"\nwidth = 8'
SECRETS = ("tls.key", "identity.key", "journal.key", "memory.key", "ca.key")
_START_S = 60.0
# Shorter than the page's 12 s, and still longer than a busy machine keeps a party waiting.
DEADLINE_S = 6
REACHED_S = 20.0


def ip(*words: str) -> None:
    subprocess.run([str(shutil.which("ip")), *words], check=True, capture_output=True)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator["Machines"]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and the command ip")
    with ExitStack() as undo:
        try:
            made = Machines(tmp_path, undo)
        except subprocess.CalledProcessError as error:
            reason = error.stderr.decode(errors="replace").strip()
            pytest.skip(f"this machine allows no network namespaces: {reason}")
        yield made


class Machines:
    """A network namespace and a folder for each host of the page."""

    def __init__(self, folder: Path, undo: ExitStack) -> None:
        self.folder, self.address = folder, dict[str, str]()
        self.running: dict[str, WarmPopen] = {}
        bridge = f"{SHORT}b"
        ip("link", "add", bridge, "type", "bridge")
        undo.callback(ip, "link", "del", bridge)
        ip("link", "set", bridge, "up")
        for at, host in enumerate(HOSTS):
            space, outer, inner = f"{SHORT}-{at}", f"{SHORT}o{at}", f"{SHORT}i{at}"
            ip("netns", "add", space)
            undo.callback(ip, "netns", "del", space)
            ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", space)
            ip("link", "set", outer, "master", bridge, "up")
            self.address[host] = f"{SUBNET}.{at + 1}"
            ip("-n", space, "addr", "add", f"{self.address[host]}/24", "dev", inner)
            ip("-n", space, "link", "set", inner, "up")
            ip("-n", space, "link", "set", "lo", "up")
            (folder / host).mkdir()
        undo.callback(self.stop)

    def stop(self) -> None:
        for process in self.running.values():
            process.kill()
            process.wait()

    def command(self, host: str, line: str) -> list[str]:
        """A line of the page, on its host."""
        for name, address in self.address.items():
            line = line.replace(name, address)
        words = line.removeprefix("sottovoce ").split()
        space = f"{SHORT}-{list(HOSTS).index(host)}"
        inside = ["ip", "netns", "exec", space]
        return [*inside, sys.executable, "-m", "sottovoce.cli", *words]

    def options(self, host: str) -> dict[str, Any]:
        """Where a command of a host runs, with a home of its own."""
        home = self.folder / host
        return {"cwd": home, "env": os.environ | {"XDG_STATE_HOME": str(home / "state")}}

    def run(self, host: str, line: str) -> tuple[int, str, str]:
        done = run_warm(self.command(host, line), **self.options(host))
        return done.returncode, done.stdout, done.stderr

    def ran(self, host: str, line: str) -> str:
        code, out, err = self.run(host, line)
        assert code == 0, (line, err)
        return out

    def start(self, host: str, line: str) -> None:
        with (self.folder / host / "said.txt").open("ab") as said:
            options = self.options(host) | {"stdout": said, "stderr": said}
            self.running[host] = WarmPopen(self.command(host, line), **options)
        end, socket = time.monotonic() + _START_S, "*/store/control.sock"
        while not list((self.folder / host).glob(socket)) and time.monotonic() < end:
            time.sleep(0.05)

    def kill(self, host: str) -> None:
        process = self.running.pop(host)
        process.kill()
        process.wait()
        for socket in (self.folder / host).glob("*/store/control.sock"):
            socket.unlink()

    def told(self, host: str) -> str:
        return (self.folder / host / "said.txt").read_text()


def lines_of_the_page() -> list[tuple[str, str]]:
    """Every command that the page shows, with the host that it is typed at."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [
        (host, line)
        for block in blocks
        for host, line in re.findall(r"^(\S+)\$ (.*)$", block, re.MULTILINE)
    ]


def joined(machines: Machines, host: str, name: str, lines: dict[str, str]) -> None:
    """Somebody joins by the lines with which ada does on the page."""

    def theirs(line: str) -> str:
        return line.replace("ada", name).replace("a.example", host)

    token = machines.ran("c.example", theirs(lines["invite"])).strip()
    asked = machines.ran(host, theirs(lines["join"]).replace("TOKEN", token))
    (string,) = re.findall(r"Comparison string: (\S+)", asked)
    machines.ran("c.example", theirs(lines["admit"]).replace("4k7p-9xqm", string))
    machines.ran(host, theirs(lines["confirm"]).replace("4k7p-9xqm", string))
    texts, labels = made_texts(300, len(name) + ord(name[0]))
    rows = "".join(f"{label},{text}\n" for label, text in zip(labels, texts, strict=True))
    (machines.folder / host / name / "texts.csv").write_text(f"label,text\n{rows}")


def check_keys_stayed(machines: Machines) -> None:
    """No secret of a host is in any file of another."""
    for host in HOSTS:
        here = machines.folder / host
        secrets = [path for name in SECRETS for path in here.rglob(name)]
        assert len(secrets) >= 3
        others = [
            path.read_bytes()
            for other in HOSTS
            if other != host
            for path in (machines.folder / other).rglob("*")
            if path.is_file()
        ]
        for secret in secrets:
            assert secret.stat().st_mode & 0o77 == 0
            whole = secret.read_bytes()
            middle = whole[len(whole) // 3 : len(whole) // 3 + 60]
            assert not any(middle in content for content in others), secret.name


def test_parties_join_train_classify_rotate_lose_and_remove_one_as_the_page_says(
    machines: Machines,
) -> None:
    page = lines_of_the_page()
    found, begin, invite, join, admit, confirm = (line for _, line in page[:6])
    lines = {"invite": invite, "join": join, "admit": admit, "confirm": confirm}
    machines.ran("c.example", found)
    config = machines.folder / "c.example" / "coordinator" / "party.toml"
    text = config.read_text().replace('dictionary = "agreed"\nwidth = 1000', FEATURES)
    text = text.replace("[training]", "[training]\npenalty = 0.1")
    config.write_text(f"deadline_s = {DEADLINE_S}\n{text}")
    machines.start("c.example", begin)
    for host, name in list(HOSTS.items())[1:]:
        joined(machines, host, name, lines)
    for host, line in page[6:9]:
        machines.start(host, line)
    (train, classify, rotate, again, roster, *_) = (line for _, line in page[9:])
    trained = machines.ran("c.example", train)
    assert "ada, ben, cy" in trained
    assert "cy joined" in machines.told("a.example"), "what ada had missed is shown"
    (machines.folder / "a.example" / "new.csv").write_text("text\nwaa wab wac waa\n")
    assert machines.ran("a.example", classify).startswith("row,label\n0,")
    machines.kill("b.example")
    machines.ran("b.example", rotate)
    machines.start("b.example", again)
    eventually(lambda: "ben has a new key" in words(machines.ran("a.example", roster)))
    check_lost_and_removed(machines, page[14:16])
    joined(machines, "d.example", "dee", lines)
    machines.start("d.example", page[8][1].replace("cy", "dee"))
    check_asked_before_training_among_others(machines, page[16:])
    check_keys_stayed(machines)


def check_lost_and_removed(machines: Machines, page: list[tuple[str, str]]) -> None:
    """Cy is lost, which a training says by name; then removed, and let in nowhere."""
    train, remove = (line for _, line in page)
    machines.kill("d.example")
    begun = time.monotonic()
    code, _, err = machines.run("c.example", train)
    assert code == 2
    assert "heard nothing from cy" in err
    assert time.monotonic() - begun < 30
    machines.ran("c.example", remove)
    code, _, err = machines.run("d.example", "learn renew --config cy/party.toml")
    assert code == 2
    assert "must show a certificate that is on the roster" in err
    eventually(lambda: "cy was removed" in machines.told("a.example"))
    code, _, err = machines.run("c.example", train)
    assert code == 2
    assert "at least 3" in err, "two are too few"


def check_asked_before_training_among_others(
    machines: Machines, page: list[tuple[str, str]]
) -> None:
    """Ada and Ben take part among other peers only once a person there has approved it."""
    (_, train), (_, listing), *approvals, (_, again) = page
    code, _, err = machines.run("c.example", train)
    assert code == 2
    (number,) = re.findall(r"learn approve (\S+) ", words(err))
    assert number in machines.ran("a.example", listing)
    for host, line in approvals:
        machines.ran(host, line.replace("SHA-256", number))
    assert "ada, ben, dee" in machines.ran("c.example", again)


def words(text: str) -> str:
    return " ".join(text.split())


def eventually(holds: Callable[[], bool]) -> None:
    """Running parties take a change of the roster when it reaches them."""
    deadline = time.monotonic() + REACHED_S
    while not holds():
        assert time.monotonic() < deadline, "the change has not reached a running party"
        time.sleep(0.05)
