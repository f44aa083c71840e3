"""The classifier of `study learn-count` between real processes: peers, coordinator, mutual TLS.

A federation for each seed, whose peers hold the training texts of one fold; each epsilon is a count
of its own, paid for from the peers' ledgers. Its noise comes from the operating system, as always.
"""

import tempfile
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path

from sottovoce.federation.config import TrainingSettings
from sottovoce.federation.party.processes import PartyProcesses, prepare, running_parties
from sottovoce.federation.setup import SetupPlan
from sottovoce.learn.count import TogetherCounts, counted_classifier
from sottovoce.learn.documents import Documents
from sottovoce.report.result import Row
from sottovoce.steps import repetitions
from sottovoce_lab.learn._count_classes import FOLDS, VOTES, LabelledTexts, missed, shown_setting
from sottovoce_lab.learn._count_rows import PROCESSES, one_row
from sottovoce_lab.learn._count_sums import CountSetting, dealt
from sottovoce_lab.release.parts import PartStore, Values


def process_rows(
    given: LabelledTexts, epsilons: Sequence[Fraction], seeds: int, store: PartStore
) -> list[Row]:
    """Errors on the texts that one fold a seed holds out."""
    parts = [
        store.values(_parameters(given, epsilons, seed), partial(_values, given, epsilons, seed))
        for seed in repetitions(seeds)
    ]
    rows = []
    for epsilon in epsilons:
        setting = CountSetting("words", VOTES, epsilon)
        errors = [part["error"][str(epsilon)] for part in parts]
        rows.append(one_row(setting, shown_setting(given, setting), PROCESSES, errors))
    return rows


def _parameters(
    given: LabelledTexts, epsilons: Sequence[Fraction], seed: int
) -> dict[str, str | int | float | None]:
    return {
        "reader": "count processes",
        "data": given.name,
        "documents": len(given.documents),
        "words": len(given.words),
        "epsilons": " ".join(map(str, epsilons)),
        "seed": seed,
    }


def _values(given: LabelledTexts, epsilons: Sequence[Fraction], seed: int) -> Values:
    train, test = next(islice(given.folds(0), seed % FOLDS, None))
    settings = [CountSetting("words", VOTES, epsilon) for epsilon in epsilons]
    with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
        root = Path(folder) / "all"
        _prepare(root, train, settings)
        with running_parties(root) as parties:
            errors = {
                str(setting.epsilon): _error(parties, root, given, setting, test)
                for setting in settings
            }
    return {"error": errors}


def _prepare(root: Path, train: Documents, settings: Sequence[CountSetting]) -> None:
    """A folder for each party; a document may spend what all counts cost together."""
    names = settings[0].peers
    held = dict(zip(names, dealt(train, len(names)), strict=True))
    count_with = {
        "labels": sorted(set(train.labels or ())),
        "budget": str(2 * sum(setting.epsilon for setting in settings) + 1),
        "most_epsilon": str(max(setting.epsilon for setting in settings)),
        "declared": True,
    }
    prepare(root, held, SetupPlan(names, TrainingSettings(), count_with=count_with))


def _error(
    parties: PartyProcesses,
    root: Path,
    given: LabelledTexts,
    setting: CountSetting,
    test: Documents,
) -> float:
    words = root / "words.txt"
    words.write_text("\n".join(given.words), encoding="utf-8")
    done = parties.asked(
        "coordinator",
        do="count",
        words_file=str(words),
        epsilon=str(setting.epsilon),
        votes=setting.votes,
        labels=list(given.labels),
        drop=setting.drop,
        collude=setting.collude,
        declare_data_dependent=True,
    )
    parties.settle()
    counted = TogetherCounts.from_bytes(bytes.fromhex(done["counted"]))
    return missed(counted_classifier(counted), test) / len(test)
