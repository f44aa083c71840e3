"""The studies of judgements as one command each: sizes, data, judges."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from sottovoce.corpus.read import open_documents
from sottovoce.corpus.simulate import SimulatedCommunity, SimulationParameters, simulate
from sottovoce.errors import ParameterError
from sottovoce.lab._data import SIMULATED, DataAbsentError, data_file
from sottovoce.lab._options import StudyOptions
from sottovoce.lab.assess import table_1, table_2, table_3
from sottovoce.lab.assess._simulated_judges import simulated_catalogue
from sottovoce.report._result import StudyResult
from sottovoce.topics._background import Texts
from sottovoce.topics._catalogue import Catalogue
from sottovoce.topics.judgements import Vote, read_survey, read_votes, topic_votes, without_checks
from sottovoce.topics.judgements._sheets import SURVEY_FILE

_SMALLEST = SimulationParameters(users=60, weeks=2, background_documents=1)


def run_assess_table_1(options: StudyOptions) -> StudyResult:
    """Table 1 by simulated judges, or by the votes of ``options``.

    ``data`` may be a catalogue: the one that was judged, or to be judged by simulated judges.
    """
    _refuse_documents(options, "assess-table-1")
    catalogue = _given_catalogue(options)
    if catalogue is None and not options.votes:
        catalogue = simulated_catalogue(simulate(_SMALLEST).topics)
    settings = table_1.AssessTable1Settings(
        catalogue,
        _survey(),
        _votes(options, catalogue),
        seeds=options.seeds or (3 if options.quick else 20),
    )
    return table_1.run(settings)


def run_assess_table_2(options: StudyOptions) -> StudyResult:
    """Table 2 on a simulated background, or on a file of documents."""
    if options.seeds is not None:
        raise ParameterError("assess-table-2 shows one model; leave --seeds out.")
    data = options.data or SIMULATED
    catalogue = simulated_catalogue(simulate(_SMALLEST).topics)
    settings = table_2.AssessTable2Settings(
        catalogue,
        _background(options, data),
        data,
        topics=60 if options.quick else 100,
        iterations=20 if options.quick else 150,
    )
    return table_2.run(settings)


def run_assess_table_3(options: StudyOptions) -> StudyResult:
    """Table 3 on simulated communities."""
    _refuse_documents(options, "assess-table-3")
    if options.data not in {None, SIMULATED}:
        raise ParameterError(
            "assess-table-3 has simulated judges of simulated people; leave --data out. For your "
            "own: topics judge export-profiles and import-profiles."
        )

    def community(seed: int) -> SimulatedCommunity:
        users, weeks = (200, 6) if options.quick else (2000, 26)
        return simulate(
            SimulationParameters(users=users, weeks=weeks, seed=seed, background_documents=1)
        )

    settings = table_3.AssessTable3Settings(
        community,
        seeds=options.seeds or (1 if options.quick else 5),
        users_per_topic=40 if options.quick else 100,
    )
    return table_3.run(settings)


def _refuse_documents(options: StudyOptions, name: str) -> None:
    if options.documents is not None or options.embedding is not None:
        raise ParameterError(f"{name} reads no documents; leave --documents and --embedding out.")


def _given_catalogue(options: StudyOptions) -> Catalogue | None:
    return None if options.data in {None, SIMULATED} else Catalogue.load(Path(str(options.data)))


def _votes(options: StudyOptions, catalogue: Catalogue | None) -> list[Vote] | None:
    if not options.votes:
        return None
    real, _ = without_checks(read_votes(options.votes).votes)
    return real if catalogue is None else topic_votes(real, catalogue)


def _survey() -> dict[str, float] | None:
    try:
        return read_survey(data_file(SURVEY_FILE))
    except DataAbsentError:
        return None


def _background(options: StudyOptions, data: str) -> Texts:
    if data == SIMULATED:
        documents = options.documents or (2000 if options.quick else 10_000)
        parameters = SimulationParameters(users=60, weeks=2, background_documents=documents)
        return [str(text) for text in simulate(parameters).background["text"].to_pylist()]
    opened = open_documents(Path(data), options=options.read)
    if options.documents is None:
        return opened
    texts = opened.read_all()["text"]
    # A file may be sorted by source; always the same sample of it.
    chosen = np.random.default_rng(0).permutation(len(texts))[: options.documents]
    return [str(text) for text in texts.take(pa.array(np.sort(chosen))).to_pylist()]
