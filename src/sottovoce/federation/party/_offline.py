"""What a party's owner can be told while it does not run: out of its journal.

What a party can tell its owner, whether it runs or not.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from sottovoce.errors import InputError
from sottovoce.federation._config import PartyConfig, Role, TextsFile
from sottovoce.federation._journal.journal import Journal
from sottovoce.federation.party._history import (
    TrainingHistory,
    earlier_record,
    latest_training,
    past_runs,
)
from sottovoce.federation.party._holdings import read_rows, read_texts
from sottovoce.federation.party._party import ConfiguredParty
from sottovoce.federation.party._transcript import in_words, meaning
from sottovoce.learn._run.classify import called
from sottovoce.learn._run.records import Trained, read_trained
from sottovoce.learn.documents import Examples


class NothingTrainedError(InputError):
    """This party has no classifier yet."""


class View(Protocol):
    """A party's runs and transcripts."""

    def past(self) -> list[TrainingHistory]:
        """All runs so far."""

    def transcript(self, session: bytes) -> list[dict[str, Any]]:
        """All messages of a run."""

    def status(self) -> dict[str, Any]:
        """How runs stand."""


class JournalView:
    """A party that does not run."""

    def __init__(self, journal: Journal, name: str) -> None:
        self._journal, self._name = journal, name

    def past(self) -> list[TrainingHistory]:
        """All runs so far."""
        return past_runs(self._journal)

    def transcript(self, session: bytes) -> list[dict[str, Any]]:
        """All messages of a run."""
        return self._journal.transcript(session, self._name)

    def status(self) -> dict[str, Any]:
        """Nothing is under way."""
        return {"runs": []}


def told_status(party: ConfiguredParty, view: View, *, running: bool) -> dict[str, Any]:
    """How a party and its runs stand."""
    live = {run["session"]: run for run in view.status()["runs"]}
    return {
        "party": party.config.party.name,
        "role": party.config.party.role,
        "running": running,
        "address": party.entry.address,
        "certificate_days": round(party.certificate_days, 1),
        "keys_sealed": party.config.party.secrets.passphrase != "none",  # noqa: S105 - a source
        "warnings": party.warnings,
        "runs": [_run(past, live.get(past.session.hex(), {})) for past in view.past()],
    }


def _run(past: TrainingHistory, live: Mapping[str, Any]) -> dict[str, Any]:
    shown = ("stage", "step", "waiting_for", "lost", "rounds", "messages", "bytes_sent")
    return {
        "run": past.session.hex(),
        "kind": past.terms.kind,
        "mode": past.terms.mode,
        "status": past.status,
        "begun": at(past.begun),
        **{name: live[name] for name in (*shown, "bytes_received") if name in live},
        "ended": dict(past.ended),
    }


def told_transcript(view: View, own: str, run: str | None) -> list[dict[str, Any]]:
    """Every message of one run, or of all, with what it is in words."""
    return [
        _line(line, past, own)
        for past in _chosen(view.past(), run)
        for line in view.transcript(past.session)
    ]


def _line(line: Mapping[str, Any], past: TrainingHistory, own: str) -> dict[str, Any]:
    kind = str(line.get("kind") or line["frame"])
    return {
        "run": past.session.hex(),
        "time": at(line["time"]),
        "sender": line["sender"],
        "receiver": line["receiver"],
        "kind": kind,
        "step": line.get("step"),
        "bytes": line["bytes"],
        "fields": line.get("fields", {}),
        "state": line["state"],
        "means": meaning(kind, line.get("fields", {})),
        "words": in_words(line, own),
    }


def _chosen(past: Sequence[TrainingHistory], run: str | None) -> list[TrainingHistory]:
    chosen = [each for each in past if run is None or each.session.hex().startswith(run)]
    if run is not None and not chosen:
        raise InputError(f"there is no run {run[:32]!r}; sottovoce learn status lists them.")
    return chosen


def trained(view: View, role: Role) -> Trained:
    """The peer's latest classifier."""
    if role != "peer":
        raise InputError("only a peer classifies; give a peer's party.toml with --config.")
    past = view.past()
    last = latest_training(past)
    record = None if last is None else earlier_record(past, last.terms.session)
    if record is None:
        raise NothingTrainedError(
            "this party has no classifier yet; train first: sottovoce learn train."
        )
    return read_trained(record)


def labelled(view: View, examples: Examples) -> tuple[str, ...]:
    """The label of each row, by the classifier that this peer has itself."""
    return called(trained(view, "peer"), examples)


def given_examples(config: PartyConfig, file: str) -> Examples:
    """Texts or rows to classify, read as the configuration says; labels are not looked at."""
    party, path = config.party, Path(file)
    if party.rows is not None:
        return read_rows(path, party.rows, labelled=False)
    return read_texts(path, party.texts or TextsFile(file), labelled=False)


def at(moment: float) -> str:
    """A time as people and machines read it."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")


def answer_offline(config: PartyConfig, request: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """The answer that the party itself would give, as far as its journal has it."""
    party = ConfiguredParty(config, strict=False)
    with party.journal() as journal:
        view = JournalView(journal, party.name)
        if request["do"] == "status":
            return told_status(party, view, running=False)
        if request["do"] == "transcript":
            return told_transcript(view, party.name, request.get("run"))
        examples = given_examples(config, str(request["file"]))
        if trained(view, config.party.role).mode != "open":
            raise InputError(
                "in the hidden mode others help to classify: start this peer first, and ask again."
            )
        return {"labels": labelled(view, examples), "run": None}
