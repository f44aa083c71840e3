"""What real processes over mutual TLS add to the same run in one process.

Same files, same terms, same keys, same machine: four peers and their helpers as processes that
journal every step, beside all parties in this process. Processor seconds of all parties together
are compared, since on one machine processes run at once where one process cannot; wall seconds
are shown too. Both must find the same theta, to the last bit.
"""

import os
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sottovoce.errors import CheckFailedError
from sottovoce.federation.config import CONFIG_FILE, FeatureSettings, TrainingSettings, load_config
from sottovoce.federation.party.control import PartyProcesses, prepare, running_parties
from sottovoce.federation.party.history import journal_history, latest_training
from sottovoce.federation.party.holdings import own_examples
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.federation.party.terms import training_terms
from sottovoce.federation.setup import SetupPlan
from sottovoce.learn.documents import Table
from sottovoce.learn.run.party import run_in_process
from sottovoce.learn.run.terms import Holdings
from sottovoce.learn.wire.codec import Value
from sottovoce_lab.bench.learn import PEERS, PENALTY, message_rows
from sottovoce_lab.bench.rows import BenchRow, bench_row

_PEER = "all parties in one process"
_TICKS = os.sysconf("SC_CLK_TCK")
_row = partial(bench_row, "federation")


class RunCost(NamedTuple):
    """Seconds by the wall's clock and of processors, and bytes sent by all parties."""

    wall: float
    processor: float
    bytes: int


def bench_federation(words: int) -> list[BenchRow]:
    """SMS messages over ``words`` features, by pairwise masks."""
    rows, signs = message_rows(words)
    labels = np.where(signs > 0, "spam", "ham")
    with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
        there, here = _measure_both(Path(folder) / "all", rows, labels)
    case = f"{len(rows):,} messages, {words:,} words, open, pairwise masks"
    return [
        _row(case, "CPU s", there.processor, _PEER, here.processor, less_is_better=True),
        _row(case, "wall s", there.wall, _PEER, here.wall, less_is_better=True),
        _row(case, "bytes sent", there.bytes, _PEER, here.bytes, less_is_better=True),
    ]


def _measure_both(folder: Path, rows: Any, labels: Any) -> tuple[RunCost, RunCost]:  # noqa: ANN401 - arrays
    columns = [f"x{at}" for at in range(rows.shape[1])]
    names = tuple(f"peer-{at}" for at in range(PEERS))
    peers = {
        name: Table.from_rows(rows[at::PEERS], labels[at::PEERS], columns)
        for at, name in enumerate(names)
    }
    training = TrainingSettings(penalty=PENALTY)
    prepare(folder, peers, SetupPlan(names, training, FeatureSettings(columns=columns)))
    there = _by_processes(folder)
    here, theta = _in_process(folder, names)
    if _theta(folder, names[0]) != theta:
        raise CheckFailedError("processes and one process must find the same theta, bit for bit.")
    return there, here


def _by_processes(folder: Path) -> RunCost:
    with running_parties(folder) as parties:
        before = _processor_seconds(parties)
        begin = time.perf_counter()
        parties.ask("coordinator", do="train")
        parties.settle()
        wall = time.perf_counter() - begin
        processor = _processor_seconds(parties) - before
        sent = sum(_count_sent_bytes(parties, name) for name in parties.processes)
    return RunCost(wall, processor, sent)


def _count_sent_bytes(parties: PartyProcesses, name: str) -> int:
    return sum(run["bytes_sent"] for run in parties.ask(name, do="status")["runs"])


def _processor_seconds(parties: PartyProcesses) -> float:
    return sum(_ticks(process.pid) for process in parties.processes.values()) / _TICKS


def _ticks(process: int) -> int:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])  # in user and in system mode


def _in_process(folder: Path, names: tuple[str, ...]) -> tuple[RunCost, bytes]:
    parties = {name: _configure_party(folder, name) for name in _folders(folder)}
    coordinator = parties["coordinator"]
    terms = training_terms(coordinator.config, coordinator.roster)
    begin, used = time.perf_counter(), time.process_time()
    holdings = {party.name: _holdings(party) for party in parties.values()}
    done = run_in_process(terms, holdings)
    cost = RunCost(time.perf_counter() - begin, time.process_time() - used, done.traffic.bytes)
    return cost, _coefficients(done.results[names[0]])


def _holdings(party: ConfiguredParty) -> Holdings:
    peer = party.config.party.role == "peer"
    examples = own_examples(party.config) if peer else None
    return Holdings(party.secrets.identity, examples, party.secrets.paillier)


def _folders(folder: Path) -> list[str]:
    return [path.parent.name for path in folder.glob(f"*/{CONFIG_FILE}")]


def _configure_party(folder: Path, name: str) -> ConfiguredParty:
    return ConfiguredParty(load_config(folder / name / CONFIG_FILE))


def _theta(folder: Path, name: str) -> bytes:
    with _configure_party(folder, name).journal() as journal:
        last = latest_training(journal_history(journal))
    if last is None or last.result is None:
        raise CheckFailedError("a peer must have a classifier after a training.")
    return _coefficients(last.result)


def _coefficients(record: Mapping[str, Value]) -> bytes:
    classifiers: Any = record["classifiers"]
    theta: bytes = classifiers[0]["coefficients"].tobytes()
    return theta
