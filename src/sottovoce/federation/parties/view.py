"""What a party can tell its owner, whether it runs or not."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from sottovoce.errors import InputError
from sottovoce.federation.config.party import PartyConfig, Role, Texts
from sottovoce.federation.journal.journal import Journal
from sottovoce.federation.parties.configured import ConfiguredParty
from sottovoce.federation.parties.earlier import Past, earlier_record, latest_training
from sottovoce.federation.parties.holdings import read_rows, read_texts
from sottovoce.federation.parties.past import past_runs
from sottovoce.federation.parties.words import in_words, meaning
from sottovoce.learn.runs.calling import called
from sottovoce.learn.runs.records import Trained, read_trained
from sottovoce.learn.texts.documents import Examples


class NothingTrainedError(InputError):
    """This party has no classifier yet."""


class View(Protocol):
    """A party's runs and transcripts."""

    def past(self) -> list[Past]:
        """All runs so far."""

    def transcript(self, session: bytes) -> list[dict[str, Any]]:
        """All messages of a run."""

    def status(self) -> dict[str, Any]:
        """How runs stand."""


class JournalView:
    """A party that does not run."""

    def __init__(self, journal: Journal, name: str) -> None:
        self._journal, self._name = journal, name

    def past(self) -> list[Past]:
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


def _run(past: Past, live: Mapping[str, Any]) -> dict[str, Any]:
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


def _line(line: Mapping[str, Any], past: Past, own: str) -> dict[str, Any]:
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


def _chosen(past: Sequence[Past], run: str | None) -> list[Past]:
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
    return read_texts(path, party.texts or Texts(file), labelled=False)


def at(moment: float) -> str:
    """A time as people and machines read it."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")
