"""All parties of a folder as processes of this machine: for demos, studies, benches and tests."""

import csv
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sottovoce.errors import InputError, NotRunningError, SottovoceError
from sottovoce.federation.config import (
    CONFIG_FILE,
    ROSTER_FILE,
    ROWS_FILE,
    TEXTS_FILE,
    PartyConfig,
    load_config,
)
from sottovoce.federation.party.control import ask, ask_once
from sottovoce.federation.roster import load_roster
from sottovoce.federation.setup import AUTHORITY_FOLDER, SetupPlan, set_up
from sottovoce.files import whole_file
from sottovoce.learn.documents import Documents, Examples
from sottovoce.privacy.ledger.elsewhere import LEDGER_VARIABLE

LOG_FILE = "log.jsonl"
STATE_FOLDER = "state"
_ERRORS_FILE = "stderr.txt"
_START_S = 120.0
_STOP_S = 30.0
_LOOK_S = 0.05


@dataclass
class PartyProcesses:
    """The processes of parties, by name; ``within`` puts words before a party's command.

    That is for putting a party into a container, a network namespace or under a debugger.
    """

    folder: Path
    processes: dict[str, "subprocess.Popen[bytes]"]
    within: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def config(self, name: str) -> PartyConfig:
        """A party's configuration."""
        return load_config(self.folder / name / CONFIG_FILE)

    def store(self, name: str) -> Path:
        """Where a party keeps its journal."""
        config = self.config(name)
        return config.path(config.party.store)

    def ask(self, name: str, **request: Any) -> Any:  # noqa: ANN401 - JSON
        """What a party answers in the end."""
        *_, last = ask(self.store(name), request)
        return last["value"]

    def start(self, name: str) -> None:
        """Start a party, or start it again."""
        self.processes[name] = _start_party(self.folder / name, self.within.get(name, ()))

    def wait(self, names: Sequence[str]) -> None:
        """Until all of these answer."""
        end = time.monotonic() + _START_S
        for name in names:
            self._wait_for(name, end)

    def settle(self) -> None:
        """Until no party has a run under way: some end a moment after the coordinator."""
        end = time.monotonic() + _START_S
        for name in self.processes:
            while any(run["status"] == "running" for run in self.ask(name, do="status")["runs"]):
                if time.monotonic() > end:
                    raise InputError(f"{name} has not ended its run within {_START_S:g} s.")
                time.sleep(_LOOK_S)

    def stop(self, names: Sequence[str] | None = None) -> None:
        """Ask parties to stop, and see that they do."""
        chosen = [self.processes[name] for name in names or self.processes]
        for process in chosen:
            process.terminate()
        for process in chosen:
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _wait_for(self, name: str, end: float) -> None:
        process = self.processes[name]
        while time.monotonic() < end:
            if process.poll() is not None:
                said = (self.folder / name / _ERRORS_FILE).read_text(encoding="utf-8")
                raise SottovoceError(f"{name} did not start: {said.strip()[-400:]}")
            try:
                ask_once(self.store(name), {"do": "status"})
            except NotRunningError:
                time.sleep(_LOOK_S)
            else:
                return
        raise InputError(f"{name} did not start within {_START_S:g} s.")


def prepare(folder: Path, peers: Mapping[str, Examples], plan: SetupPlan) -> None:
    """What `learn init` writes, with each peer's examples in its own folder."""
    set_up(folder, plan)
    for name, examples in peers.items():
        if isinstance(examples, Documents):
            _write_rows(folder / name / TEXTS_FILE, ["text"], examples, examples.texts)
        else:
            columns = list(examples.columns) or plan.features.columns
            cells = (list(map(repr, row)) for row in examples.rows.tolist())
            _write_rows(folder / name / ROWS_FILE, columns, examples, cells)


def _write_rows(
    path: Path, columns: list[str], examples: Examples, rows: Iterable[str | list[str]]
) -> None:
    labels = examples.labels or [""] * len(examples)
    with (
        whole_file(path, private=True) as part,
        part.open("w", encoding="utf-8", newline="") as out,
    ):
        writer = csv.writer(out)
        writer.writerow(["label", *columns])
        for label, row in zip(labels, rows, strict=True):
            writer.writerow([label, *([row] if isinstance(row, str) else row)])


@contextmanager
def running_parties(
    folder: Path,
    names: Sequence[str] | None = None,
    within: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[PartyProcesses]:
    """Run the parties that `learn init` wrote into ``folder``, all or some, for a while."""
    if names is None:
        roster = load_roster(folder / AUTHORITY_FOLDER / ROSTER_FILE)
        names = [member.certificate_name for member in roster]
    parties = PartyProcesses(folder, {}, within or {})
    try:
        for name in names:
            parties.start(name)
        parties.wait(names)
        yield parties
    finally:
        parties.stop()


def _start_party(folder: Path, within: Sequence[str]) -> "subprocess.Popen[bytes]":
    role = load_config(folder / CONFIG_FILE).party.role
    command = [sys.executable, "-m", "sottovoce.cli", "learn", role]
    options = ["--config", str(folder / CONFIG_FILE), "--log", str(folder / LOG_FILE)]
    with (folder / _ERRORS_FILE).open("ab") as errors:
        return subprocess.Popen(  # noqa: S603 - our own command
            [*within, *command, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=_environment(folder),
        )


def _environment(folder: Path) -> dict[str, str]:
    """As this process's, with our package where this process found it.

    What parties keep outside their folders goes beside these, as if each had a machine of its own:
    nothing is left behind elsewhere, and none pays from another's ledger.
    """
    here = str(Path(__file__).parents[3])
    paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])]
    beside = {"XDG_STATE_HOME": str(folder.parent / STATE_FOLDER / folder.name)}
    own = {name: value for name, value in os.environ.items() if name != LEDGER_VARIABLE}
    return {**own, **beside, "PYTHONPATH": os.pathsep.join(paths)}
