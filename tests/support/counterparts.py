"""Every command and what does the same from Python, or why nothing does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

import typer
from typer.models import ParameterInfo

from sottovoce.cli._app import app


@dataclass(frozen=True)
class Counterpart:
    """What does the same from Python.

    ``python``: functions, methods or classes by their names, whose parameters are compared with the
    options of the command; ``called``: options that are parameters of another name; ``differs``:
    parameters whose default is another one on purpose, and why.
    """

    python: tuple[str, ...]
    called: Mapping[str, str] = field(default_factory=dict)
    differs: Mapping[str, str] = field(default_factory=dict)


def by(*python: str, differs: Mapping[str, str] | None = None, **called: str) -> Counterpart:
    return Counterpart(tuple(f"sottovoce.{name}" for name in python), called, differs or {})


PROCESS = "runs a process of a federation until it is stopped"
FOLDER = "makes or changes a party's own folder, keys and approvals: decided at that machine"
ASKED = "asks a party that runs as a process; `federation.Connected` is one in Python"
NOT_SAID = "None is not said on the command line: the function's own default holds"
RESEARCH = "makes the tables and figures of this project again"

COUNTERPARTS: Mapping[str, Counterpart | str] = {
    "demo": "tries everything at once and writes a page",
    "simulate": by(
        "corpus.simulate.parameters.SimulationParameters",
        differs={"difficulty": "its name on the command line, what it stands for in Python"},
    ),
    "describe": by("corpus.summarise_posts"),
    "count": by("corpus.TokenRules", "corpus.counts.count_to_folder"),
    "evaluate": by("assess.evaluation.runs.evaluate_ranks"),
    "assess": by("assess_posts", measure="measures"),
    "explain": by("assess.Ranking.explain", "assess_posts"),
    "alerts": by(
        "assess.Ranking.alerts",
        differs={"top": "a list of numbers in Python, text on the command line"},
    ),
    "forget": "erases people from files for good: done where the files are, and named in a shell",
    "advise": "a page",
    "release": by("release_counts", vocabulary="words"),
    "analyse": by("release.Release.summary", "release.Release.topics"),
    "audit": by(
        "release.Release.audit", "release.audit.audit_sampler", "release.audit.audit_control"
    ),
    "statement": by("make_statement"),
    "rank-server": "a server",
    "rank-edges": by("advisor.rank.histogram.fitted_buckets"),
    "bench": RESEARCH,
    "study": RESEARCH,
    "loop": by(
        "loop.compare_settings",
        differs=dict.fromkeys(("precision", "epsilon", "compress"), NOT_SAID),
    ),
    "ledger show": by("release.Ledger", file="path"),
    "ledger forget-place": "changes which ledgers this machine asks: decided at that machine",
    "ledger move": "changes which ledgers this machine asks: decided at that machine",
    "learn init": FOLDER,
    "learn new": FOLDER,
    "learn invite": FOLDER,
    "learn join": FOLDER,
    "learn admit": FOLDER,
    "learn coordinator": PROCESS,
    "learn keyholder": PROCESS,
    "learn peer": PROCESS,
    "learn intermediary": PROCESS,
    "learn train": by("train", "federation.config.TrainingSettings"),
    "learn evaluate": by("learn.TrainedClassifier.evaluate"),
    "learn classify": by("learn.TrainedClassifier.predict"),
    "learn count": by(
        "count_together",
        "learn.count.opened.TogetherCounts.rows",
        differs=dict.fromkeys(
            ("votes", "drop", "collude"), "None: as [count] of party.toml, with the same default"
        ),
        per_user="documents_per_user",
    ),
    "learn topics": by("learn.counted_topics", topics="k"),
    "learn status": ASKED,
    "learn transcript": ASKED,
    "learn approve": FOLDER,
    "learn audit": by("learn.audit_training"),
    "learn roster": FOLDER,
    "learn remove": FOLDER,
    "learn renew": FOLDER,
    "learn move": FOLDER,
    "learn rotate": FOLDER,
    "topics list": by("topics.shipped_catalogue"),
    "topics train": by(
        "topics.LdaParameters",
        "topics.WordChoice",
        differs=dict.fromkeys(("iterations", "min_texts", "max_terms"), NOT_SAID),
    ),
    "topics show": by("topics.load_model", "topics.lda.model.LdaModel.top_words", words="count"),
    "topics import": by("topics.imports.libraries.import_model"),
    "topics catalogue": by("topics.match.catalogue_of", words="count"),
    "topics match": by("topics.match_model", choose="chosen"),
    "topics judge export": by("topics.judgements.votes.topic_sheet"),
    "topics judge import": by("topics.judgements.agreement.judged_topics"),
    "topics judge agreement": by("topics.judgements.agreement.agreement"),
    "topics judge export-profiles": by("topics.judgements.profiles.profile_sheet"),
    "topics judge import-profiles": by("topics.judgements.profiles.judged_truth"),
}


def commands() -> dict[str, Any]:
    """The functions of all commands by their names."""
    return dict(_below(app, ()))


def _below(group: typer.Typer, above: tuple[str, ...]) -> list[tuple[str, Any]]:
    found = [
        (" ".join((*above, command.name or command.callback.__name__)), command.callback)
        for command in group.registered_commands
        if command.callback is not None
    ]
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        found += _below(inner.typer_instance, (*above, str(inner.name)))
    return found


def defaults_of(command: Any) -> dict[str, object]:  # noqa: ANN401 - a command's function
    """The defaults of its options by their names in Python."""
    return {
        name: each.default
        for name, each in signature(command, eval_str=True).parameters.items()
        if each.default is not Parameter.empty and not isinstance(each.default, ParameterInfo)
    }


def parameters_of(name: str) -> dict[str, Parameter]:
    """The parameters of a function, method or class by its dotted name."""
    return dict(signature(found(name)).parameters)


def found(name: str) -> Any:  # noqa: ANN401 - whatever has the name
    """What a dotted name stands for."""
    module, parts = name, list[str]()
    while True:
        try:
            here: Any = import_module(module)
            break
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            parts.insert(0, last)
    for part in parts:
        here = getattr(here, part)
    return here


def usual(value: object) -> object:
    """A default as it compares: no list is None, and an enum or number is what it prints."""
    if value is None or value in ((), [], {}, "", frozenset()):
        return None
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
