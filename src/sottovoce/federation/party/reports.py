"""What a party answers to its owner, whether it runs or is offline.

Both a running node and the journal of an offline party are a `View`; `answer_offline` answers from
the journal alone. Of a run it shows the progress and the cost. Its log has lines of JSON with
names, counts and errors, never what anybody wrote.
"""

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from sottovoce.errors import DataError, InputError
from sottovoce.federation._journal import Journal
from sottovoce.federation.config import PartyConfig, Role, TextsFile
from sottovoce.federation.party.history import (
    RunHistory,
    count_by_label,
    in_words,
    journal_history,
    latest_training,
    meaning,
    training_record,
)
from sottovoce.federation.party.holdings import read_rows, read_texts
from sottovoce.federation.party.party import ConfiguredParty, PartyNode
from sottovoce.federation.roster import RosterHistory
from sottovoce.federation.transport.frames import Log
from sottovoce.files import PRIVATE_MODE
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.reading import counted_classifier
from sottovoce.learn.count.recipe import promise_record
from sottovoce.learn.documents import Documents, Examples
from sottovoce.learn.run.agree import opening
from sottovoce.learn.run.classify import call_labels
from sottovoce.learn.run.leakage import run_leakage
from sottovoce.learn.run.records import Trained, read_trained
from sottovoce.learn.run.terms import RunTerms


class JournalView:
    """An offline party."""

    def __init__(self, journal: Journal, name: str) -> None:
        self._journal, self._name = journal, name

    def history(self) -> list[RunHistory]:
        """All runs so far."""
        return journal_history(self._journal)

    def transcript(self, session: bytes) -> list[dict[str, Any]]:
        """All messages of a run."""
        return self._journal.transcript(session, self._name)

    def status(self) -> dict[str, Any]:
        """Nothing is under way."""
        return {"runs": []}


View: TypeAlias = PartyNode | JournalView


def answer_offline(config: PartyConfig, request: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """The answer that the party itself would give, as far as its journal has it."""
    party = ConfiguredParty(config, strict=False)
    with party.journal() as journal:
        view = JournalView(journal, party.name)
        if request["do"] == "status":
            return status_report(party, view, running=False)
        if request["do"] == "transcript":
            return transcript_report(view, party, request.get("run"))
        if request["do"] == "counted":
            return counted_report(view, request.get("run"))
        examples = given_examples(config, str(request["file"]))
        if (found := labelled_by_count(view, config.party.role, examples)) is not None:
            return found
        if latest_classifier(view, config.party.role).mode != "open":
            raise InputError(
                "in the hidden mode others help to classify: start this peer first, and ask again."
            )
        return {"labels": label_rows(view, examples), "run": None}


def status_report(party: ConfiguredParty, view: View, *, running: bool) -> dict[str, Any]:
    """How a party and its runs stand."""
    live = {run["session"]: run for run in view.status()["runs"]}
    return {
        "party": party.config.party.name,
        "role": party.config.party.role,
        "running": running,
        "address": party.config.party.listen if party.is_removed else party.entry.address,
        "certificate_days": round(party.certificate_days, 1),
        "keys_sealed": party.config.party.secrets.passphrase != "none",  # noqa: S105 - a source
        "warnings": party.warnings,
        "roster": None if party.history is None else roster_report(party.history),
        "runs": [_run(run, live.get(run.session.hex(), {})) for run in view.history()],
    }


def roster_report(history: RosterHistory) -> dict[str, Any]:
    """How far a roster has come, for comparing it with the others', and all its changes."""
    return {
        "number": history.number,
        "digest": history.digest,
        "parties": [each.certificate_name for each in history.roster],
        "changes": [
            {"time": each.time, "change": each.in_words(), "fingerprint": each.fingerprint}
            for each in history.changes
        ],
    }


def _run(run: RunHistory, live: Mapping[str, Any]) -> dict[str, Any]:
    shown = ("stage", "step", "waiting_for", "lost", "rounds", "messages", "bytes_sent")
    return {
        "run": run.session.hex(),
        "kind": run.terms.kind,
        "mode": run.terms.mode,
        "status": run.status,
        "begun": format_time(run.begun),
        **{name: live[name] for name in (*shown, "bytes_received") if name in live},
        "ended": dict(run.ended),
    }


def transcript_report(
    view: View, party: ConfiguredParty, wanted: str | None
) -> list[dict[str, Any]]:
    """Every message of one run, or of all, with what it is in words; a proposal with all keys."""
    return [
        _line(line, run, party)
        for run in _choose_runs(view.history(), wanted)
        for line in view.transcript(run.session)
    ]


def _keys(terms: RunTerms, party: ConfiguredParty) -> dict[str, Any]:
    """The terms' digest, and who signs them with which key or proves itself by which certificate.

    Certificates are those of the present roster.
    """
    known, signing = {each.name: each.fingerprint for each in party.roster}, terms.identities
    parties = {
        name: {"identity": signing.get(name, b"").hex(), "certificate": known.get(name, "")}
        for name in terms.parties
    }
    return {"terms": opening(terms).digest.hex(), "parties": parties}


def _line(line: Mapping[str, Any], run: RunHistory, party: ConfiguredParty) -> dict[str, Any]:
    kind = str(line.get("kind") or line["frame"])
    return {
        "run": run.session.hex(),
        "time": format_time(line["time"]),
        "sender": line["sender"],
        "receiver": line["receiver"],
        "kind": kind,
        "step": line.get("step"),
        "bytes": line["bytes"],
        "fields": line.get("fields", {}),
        "state": line["state"],
        "means": meaning(kind, line.get("fields", {}), run.terms.kind),
        "words": in_words(line, party.name, run.terms),
        **(_keys(run.terms, party) if kind == "propose" else {}),
    }


def _choose_runs(history: Sequence[RunHistory], wanted: str | None) -> list[RunHistory]:
    chosen = [run for run in history if wanted is None or run.session.hex().startswith(wanted)]
    if wanted is not None and not chosen:
        raise InputError(f"there is no run {wanted[:32]!r}; sottovoce learn status lists them.")
    return chosen


def counted_report(view: View, run: str | None = None) -> dict[str, Any]:
    """What a party keeps of a count, in hexadecimal; the latest one, if none is named."""
    runs = [each for each in view.history() if each.terms.kind == "count"]
    chosen = [each for each in runs if run is None or each.session.hex().startswith(run)]
    done = [each for each in chosen if each.status == "finished" and each.result is not None]
    if not done:
        raise InputError("this party has no finished count of that name; count first.")
    counted = TogetherCounts.from_record(done[-1].result or {})
    return {
        "run": done[-1].session.hex(),
        "guarantee": promise_record(counted.guarantee),
        "counted": counted.to_bytes().hex(),
    }


def labelled_by_count(view: View, role: Role, examples: Examples) -> dict[str, Any] | None:
    """The label of each text by words that were counted by label; None: a training is later."""
    run = count_by_label(view.history())
    if run is None:
        return None
    _check_classifies(role)
    if not isinstance(examples, Documents):
        raise InputError("counted words classify texts, not rows of numbers; train on rows again.")
    rules = None if run.terms.text is None else run.terms.text.rules
    found = counted_classifier(TogetherCounts.from_record(run.result or {}), rules=rules)
    return {"labels": found.predict(examples.texts).tolist(), "run": run.session.hex()}


def _check_classifies(role: Role) -> None:
    if role != "peer":
        raise InputError("only a peer classifies; give a peer's party.toml with --config.")


def latest_classifier(view: View, role: Role) -> Trained:
    """The peer's latest classifier."""
    _check_classifies(role)
    history = view.history()
    last = latest_training(history)
    record = None if last is None else training_record(history, last.terms.session)
    if record is None:
        raise DataError("this party has no classifier yet; train first: sottovoce learn train.")
    return read_trained(record)


def label_rows(view: View, examples: Examples) -> tuple[str, ...]:
    """The label of each row, by the classifier that this peer has itself."""
    return call_labels(latest_classifier(view, "peer"), examples)


def given_examples(config: PartyConfig, file: str) -> Examples:
    """Texts or rows to classify, read as the configuration says; labels are not looked at."""
    party, path = config.party, Path(file)
    if party.rows is not None:
        return read_rows(path, party.rows, labelled=False)
    return read_texts(path, party.texts or TextsFile(file), labelled=False)


def format_time(moment: float) -> str:
    """A time as people and machines read it."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")


_COUNTED = ("rounds", "messages", "bytes_sent", "bytes_received")


class Progress:
    """Notes how a run stands, and for whom how long was waited."""

    def __init__(self, terms: RunTerms) -> None:
        self._terms = terms
        self._begin = self._last = time.monotonic()
        self._waits: Counter[str] = Counter()
        self._shown: dict[str, Any] = {}

    def note(self, standing: Mapping[str, Any]) -> bool:
        """Take note; whether there is something new to show."""
        now = time.monotonic()
        for name in standing["waiting_for"]:
            self._waits[name] += now - self._last  # type: ignore[assignment] # seconds
        self._last = now
        names = ("stage", "step", "status", "waiting_for", "lost", "bytes_sent", "bytes_received")
        shown = {name: standing[name] for name in names}
        changed, self._shown = shown != self._shown, shown
        return changed

    def describe(self) -> dict[str, Any]:
        """What a watcher wants to see."""
        return {**self._shown, "seconds": round(self.seconds, 2)}

    @property
    def seconds(self) -> float:
        """Since it is watched."""
        return time.monotonic() - self._begin

    @property
    def waits(self) -> dict[str, float]:
        """Seconds for which each party was waited for, those above a tenth."""
        return {name: round(s, 1) for name, s in self._waits.most_common() if s >= 0.1}  # noqa: PLR2004 - shorter ones say nothing


def summary(
    terms: RunTerms, progress: Progress, attempts: Sequence[Mapping[str, Any]], opened: str = ""
) -> dict[str, Any]:
    """A run in numbers, those of attempts that were broken off included; who has learnt what.

    ``opened`` says of how many words sums were opened.
    """
    leakage = run_leakage(terms)
    standing = attempts[-1]
    left_out = {name for each in attempts[:-1] for name in each["ended"].get("missing", ())}
    return {
        "run": standing["session"],
        "attempts": len(attempts),
        "kind": terms.kind,
        "mode": terms.mode,
        "status": standing["status"],
        "seconds": round(progress.seconds, 3),
        **{name: sum(each[name] for each in attempts) for name in _COUNTED},
        "peers": list(terms.peers),
        "lost": sorted(left_out | set(standing["lost"])),
        "waited_s": progress.waits,
        "opened": opened,
        "leakage": {
            "protocol": leakage.protocol,
            "learns": [
                *({"who": row.who, "what": row.what} for row in leakage.learns),
                *_of_broken_off(sorted(left_out)),
            ],
            "against": [{"who": row.who, "what": row.what} for row in leakage.against],
            "together": leakage.collusion,
            "assumes": leakage.assumes,
        },
    }


def _of_broken_off(left_out: list[str]) -> list[dict[str, str]]:
    if not left_out:
        return []
    names = ", ".join(left_out)
    what = (
        f"what the attempts with {names} had opened before they were broken off; where it is a sum "
        f"that was opened again, the difference is the part of {names} alone"
    )
    return [{"who": "whoever learns a sum", "what": what}]


@contextmanager
def opened_log(path: Path | None, party: str) -> Iterator[Log]:
    """Where a party's events go: appended to a file for its owner only, or nowhere."""
    if path is None:
        yield _log_nowhere
        return
    try:
        descriptor = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY, PRIVATE_MODE)
    except OSError as error:
        raise InputError(f"cannot write the log {path}: {error.strerror}.") from None
    lock = threading.Lock()

    def log(event: str, /, **fields: object) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "party": party, "event": event, **fields}, default=str)
        with lock:
            os.write(descriptor, line.encode() + b"\n")

    try:
        yield log
    finally:
        os.close(descriptor)


def _log_nowhere(_event: str, /, **_fields: object) -> None:
    pass
