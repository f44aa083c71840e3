"""A running party: its node, and what commands of its owner may ask of it."""

import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Self, TypeAlias

from sottovoce.errors import AbortedError, DataError, InputError, ParameterError
from sottovoce.federation.party import reports
from sottovoce.federation.party._policy import GIVING, TermsMemory
from sottovoce.federation.party._proposals import (
    Joins,
    PeerRequests,
    RetryWithoutLost,
    membership_of,
    offer_membership,
    propose_run,
    refuse_members,
)
from sottovoce.federation.party.control import Answers, ControlServer
from sottovoce.federation.party.history import (
    TRAININGS,
    RunHistory,
    count_by_label,
    latest_training,
    trained_peers,
)
from sottovoce.federation.party.holdings import why_untrainable
from sottovoce.federation.party.journal_key import restored_at, spent_unknown
from sottovoce.federation.party.party import ConfiguredParty, RunRequest
from sottovoce.federation.party.reports import Progress, summary
from sottovoce.federation.party.terms import (
    NOT_YET,
    accepted_by,
    count_terms,
    paid_before,
    training_terms,
    use_terms,
)
from sottovoce.federation.roster import RosterChange, RosterHistory
from sottovoce.federation.transport.frames import VERSION, Log
from sottovoce.learn.documents import Documents, Examples
from sottovoce.learn.run.evaluate import JointEvaluation
from sottovoce.learn.run.leakage import opened_words
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.wire.codec import encode_value

_LOOK_S = 0.1
# Progress, and in the end what is answered.
Watched: TypeAlias = Generator[Mapping[str, Any], None, dict[str, Any]]


class Service:
    """Runs a party until it is stopped."""

    def __init__(self, party: ConfiguredParty, log: Log) -> None:
        self.party = party
        self.stopping = threading.Event()
        self.notice: Callable[[str], None] = lambda _sentence: None
        """Told what a person should see at once: each change of the roster."""
        training = party.config.party.training
        always = training is not None and training.without_lost
        self._retry = RetryWithoutLost(always=always, nothing_given=self._nothing_given)
        self._log, self._started = log, False
        self.node, self._maker = party.node(self._log_event, self._find_refusal, self._retry)
        if party.config.party.role == "coordinator":
            may_start = training is not None and training.peers_may_start
            requests = PeerRequests(self.node, peers_may_start=may_start)
            self.node.answer_run_requests(requests.propose)
        self._joins: Joins | None = None
        self._membership = membership_of(party, self._log_event)
        if self._membership is not None:
            coordinates = party.config.party.role == "coordinator"
            offer_membership(self.node, self._membership, coordinates=coordinates)
            self._membership.on_change = self._take_roster
            self._membership.on_refusal = lambda sentence: self.notice(sentence)  # noqa: PLW0108 - set later
            if coordinates:
                self._joins = Joins(party, self._membership, self._log_event)

    def __enter__(self) -> Self:
        address = self.node.start(self.party.config.party.listen)
        self._control = ControlServer(self.party.store, self._answers)
        self._control.start()
        self._started = True
        self._forget_keys()
        self._log("listening", address=address)
        if self._membership is not None:
            self._membership.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._joins is not None:
            self._joins.close()
        if self._membership is not None:
            self._membership.close()
        self._control.close()
        self.node.close()
        self._maker.memory.close()
        self._log("stopped")

    def _take_roster(self, history: RosterHistory, fresh: Sequence[RosterChange]) -> None:
        """Propose and accept runs by the changed roster; a party that was removed stops."""
        self.party.roster = self._maker.roster = history.roster
        self.party.history = history
        for change in fresh:
            self.notice(change.in_words())
        if self.party.is_removed:
            self._log("removed from the roster")
            self.stopping.set()

    def _log_event(self, event: str, /, **fields: object) -> None:
        # A restored store ends its runs before there is a node to ask.
        if self._started and event in ("run aborted", "run finished"):
            self._forget_keys()
        self._log(event, **fields)

    def _forget_keys(self) -> None:
        """Wipe the keys of runs that have ended."""
        keys = self._maker.keys
        if keys is not None and self.party.config.party.role != "peer":
            runs = self.node.history()
            keys.forget({run.terms.session: run.status for run in runs if run.status != "running"})

    def _find_refusal(self, terms: bytes, proposer: str) -> str | None:
        refused = self.party.find_refusal(terms, proposer)
        if refused:
            return refused
        known, history = RunTerms.from_bytes(terms), self.node.history()
        used = any(run.terms.session == known.session for run in history)
        if used or paid_before(self.party.config, known):
            return "a run must have a session of its own, got that of another; propose it again."
        unable = self._unready(known.training, history) or self._too_close(known, history)
        return unable or why_untrainable(self.party.config, known)

    def _too_close(self, terms: RunTerms, history: list[RunHistory]) -> str | None:
        """Why a peer leaves it to a person whether it takes part, or None."""
        if self.party.config.party.role != "peer":
            return None
        restored = self.node.read_journal(restored_at)
        accepts = accepted_by(self.party.config)
        among = self._maker.memory.among_in
        memory = TermsMemory(self.party.store, accepts, self.node.name, restored, among)
        return memory.find_refusal(terms, history, self._said_in)

    def _said_in(self, run: bytes) -> set[str]:
        lines = self.node.transcript(run)
        return {str(line.get("kind")) for line in lines if line["sender"] == self.node.name}

    def _nothing_given(self, terms: RunTerms) -> bool:
        """At the coordinator: whether no party has given anything of its data in a run."""
        run = next(each for each in self.node.history() if each.terms.session == terms.session)
        kinds = {str(line.get("kind")) for line in self.node.transcript(run.session)}
        return GIVING.isdisjoint(kinds)

    def _unready(self, wanted: bytes, history: list[RunHistory]) -> str | None:
        """Why a run cannot use the training that it names, or None."""
        if not wanted:
            return None
        used = next((run for run in history if run.terms.session == wanted), None)
        if used is not None and used.status == "running":
            return f"{self.node.name} {NOT_YET}; ask again in a moment."
        if used is None or used.status != "finished":
            return f"{self.node.name} took no part in that training."
        if self.party.config.party.role == "peer":
            return None
        return spent_unknown(used, self.node.read_journal(restored_at), self.node.name)

    def wait(self) -> None:
        """Until somebody asks to stop."""
        self.stopping.wait()

    def _answers(self, request: Mapping[str, Any]) -> Answers:
        wanted, joins = str(request.get("do")), self._joins
        verbs: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "status": lambda _: reports.status_report(self.party, self.node, running=True),
            "train": self._train,
            "evaluate": self._evaluate,
            "classify": self._classify,
            "count": self._count,
            "counted": lambda asked: reports.counted_report(self.node, asked.get("run")),
            "run": self._run,
            "transcript": self._transcript,
            "stop": lambda _: "stopping",
            "invite": refuse_members if joins is None else joins.invite,
            "admit": refuse_members if joins is None else joins.admit,
            "remove": refuse_members if joins is None else joins.remove,
        }
        if wanted not in verbs:
            raise ParameterError(f"a request must be one of {', '.join(verbs)}.")
        found = verbs[wanted](request)
        value = (yield from found) if isinstance(found, Generator) else found
        yield {"value": value, "last": True}
        if wanted == "stop":
            self.stopping.set()

    def _transcript(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        return reports.transcript_report(self.node, self.party, request.get("run"))

    def _train(self, request: Mapping[str, Any]) -> Watched:
        self._check_coordinates()
        terms = training_terms(self.party.config, self.party.roster)
        if request.get("without_lost"):
            self._retry.allow(terms)
        return (yield from self._watch(terms, self._propose_run(terms)))

    def _evaluate(self, request: Mapping[str, Any]) -> Watched:
        self._check_coordinates()
        last = latest_training(self.node.history())
        if count_by_label(self.node.history()) is not None:
            raise ParameterError(
                "the latest classifier was counted under noise: how often it is right would be an "
                "exact sum over the same documents; classify labelled texts of your own instead."
            )
        if last is None:
            raise DataError("there is nothing to evaluate yet; train first.")
        estimate = bool(last.terms.held_out)
        if not estimate and not request.get("training_data"):
            raise ParameterError(
                "this training held out nothing, and the documents it was trained on give no "
                "estimate. Set held_out = 0.2 in [training] of the coordinator's "
                "party.toml and train again, or ask by name for a count on training data."
            )
        rows, peers = int(request.get("rows", 0)), trained_peers(last)
        done = yield from self._watch_until_ready(
            lambda: use_terms("evaluate", last.terms, rows=rows, peers=peers)
        )
        found = _evaluation(JointEvaluation.from_record(self._record(done["run"])))
        return {**done, **found, "held_out": last.terms.held_out, "estimate": estimate}

    def _count(self, request: Mapping[str, Any]) -> Watched:
        self._check_coordinates()
        terms = count_terms(self.party.config, self.party.roster, request)
        done = yield from self._watch(terms, self._propose_run(terms))
        return {**done, **reports.counted_report(self.node, done["run"])}

    def _classify(self, request: Mapping[str, Any]) -> Watched:
        examples = reports.given_examples(self.party.config, str(request["file"]))
        self._await_classifier()
        role = self.party.config.party.role
        if (found := reports.labelled_by_count(self.node, role, examples)) is not None:
            return found
        known = reports.latest_classifier(self.node, role)
        if known.mode == "open":
            return {"labels": reports.label_rows(self.node, examples), "run": None}
        training = next(run for run in self.node.history() if run.terms.session == known.session)
        terms = use_terms("classify", training.terms, asker=self.node.name, rows=len(examples))
        done = yield from self._request_run(terms, examples)
        return {**done, "labels": self._record(done["run"])["labels"]}

    def _run(self, request: Mapping[str, Any]) -> Watched:
        """A run of given terms; what this party keeps of it, in hexadecimal."""
        terms = RunTerms.from_bytes(bytes.fromhex(str(request["terms"])))
        texts = request.get("texts")
        examples = None if texts is None else Documents.from_texts(texts)
        if self.party.config.party.role == "coordinator":
            done = yield from self._watch(terms, self._propose_run(terms))
        else:
            done = yield from self._request_run(terms, examples)
        return {**done, "record": encode_value(dict(self._record(done["run"]))).hex()}

    def _request_run(self, terms: RunTerms, examples: Examples | None) -> Watched:
        """A run that the coordinator proposes because this peer asks for it."""
        refused = self._find_refusal(terms.to_bytes(), self.node.name)
        if refused:
            raise ParameterError(refused)
        if examples is not None:
            self._maker.query_examples[terms.session] = examples
        try:
            run = self.node.request_run(RunRequest(VERSION, terms.to_bytes()))
            if not self._wait_until(lambda: any(r.session == run for r in self.node.history())):
                raise InputError(
                    "the coordinator granted a run that has not come here; another party may have "
                    "refused it: see sottovoce learn status at the coordinator."
                )
            return (yield from self._watch(terms, run))
        finally:
            self._maker.query_examples.pop(terms.session, None)

    def _record(self, run: str) -> Mapping[str, Any]:
        """What this party keeps of a run."""
        found = next(each.result for each in self.node.history() if each.session.hex() == run)
        return found or {}

    def _await_classifier(self) -> None:
        """The coordinator may have finished a moment before this peer."""

        def is_over() -> bool:
            running = (run for run in self.node.history() if run.status == "running")
            return {run.terms.kind for run in running}.isdisjoint((*TRAININGS, "count"))

        self._wait_until(is_over)

    def _wait_until(self, condition: Callable[[], bool]) -> bool:
        end = time.monotonic() + self.node.settings.deadline_s
        while time.monotonic() < end and not self.stopping.is_set():
            if condition():
                return True
            time.sleep(_LOOK_S)
        return False

    def _watch_until_ready(self, terms: Callable[[], RunTerms]) -> Watched:
        """Propose a run, and again while a peer is not yet ready for it."""
        end = time.monotonic() + self.node.settings.deadline_s
        while True:
            made = terms()
            try:
                return (yield from self._watch(made, self._propose_run(made)))
            except InputError as error:
                if NOT_YET not in str(error) or time.monotonic() > end:
                    raise
                time.sleep(_LOOK_S)

    def _propose_run(self, terms: RunTerms) -> bytes:
        if self._membership is not None:
            self._membership.await_heard(self.node.settings.deadline_s / 2)
        return propose_run(self.node, terms)

    def _check_coordinates(self) -> None:
        if self.party.config.party.role != "coordinator":
            raise ParameterError(
                "only the coordinator starts runs; give its party.toml with --config."
            )

    def _watch(self, terms: RunTerms, run: bytes) -> Watched:
        """Progress as it changes, and a summary in the end."""
        progress = Progress(terms)
        while True:
            try:
                over = self.node.wait(run, _LOOK_S) is not None
            except AbortedError as error:
                raise InputError(str(error)) from None
            attempts = self._attempts(run)
            if progress.note(attempts[-1]):
                yield {"progress": progress.describe()}
            if over or self.stopping.is_set():
                last = bytes.fromhex(attempts[-1]["session"])
                latest = next((r for r in self.node.history() if r.session == last), None)
                if latest is None:
                    return summary(terms, progress, attempts)
                opened = opened_words(latest.result or {})
                return summary(latest.terms, progress, attempts, opened)

    def _attempts(self, run: bytes) -> list[Mapping[str, Any]]:
        """How a run stands, and before it those that it took up."""
        runs: dict[str, Mapping[str, Any]] = {
            each["session"]: each for each in self.node.status()["runs"]
        }
        found = [runs[run.hex()]]
        while found[-1].get("followed_by"):
            found.append(runs[found[-1]["followed_by"]])
        return found


def _evaluation(found: JointEvaluation) -> dict[str, Any]:
    counts = found.counts.reshape(len(found.labels), -1)
    right = int(sum(counts[at, at] for at in range(len(found.labels))))
    rows = int(counts.sum())
    return {
        "rows": rows,
        "right": right,
        "accuracy": right / rows,
        "labels": list(found.labels),
        "counts": counts.tolist(),
    }
