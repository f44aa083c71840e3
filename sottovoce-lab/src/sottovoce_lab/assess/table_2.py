"""The vocabulary of sensitive topics, as latent dimensions of a model have it.

R-Susceptibility, Table 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from sottovoce.corpus.read.corpus import open_documents
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate
from sottovoce.errors import ParameterError
from sottovoce.report.page import ACCENT, Plot, new_figure
from sottovoce.report.result import Row, StudyResult
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.lda.train import LdaParameters, train_lda
from sottovoce.topics.match import Matching, match_model
from sottovoce.topics.salient import salient_words
from sottovoce.topics.training import Texts
from sottovoce_lab._data import SIMULATED
from sottovoce_lab.assess._paper import PRINTED
from sottovoce_lab.assess._simulated_judges import smallest_catalogue
from sottovoce_lab.options import StudyOptions, study_notes

PAPER_WORDS: dict[str, list[str]] = PRINTED["2"]
SHOWN_WORDS = 8
SHOWN = ("topic", "dimension", "share", "overlap", "our_words", "paper_words")
WIDE = ("dimensions", "also", "shared_words", "paper_words_known")
NOTES = study_notes("assess-table-2")
SIMULATED_NOTE = "The background is simulated: its words come from lists, not from people."


@dataclass(frozen=True, eq=False)
class AssessTable2Settings:
    """A background to train on, and the topics to find in it."""

    catalogue: Catalogue
    texts: Texts
    data: str = SIMULATED
    topics: int = 100
    iterations: int = 150


def run_assess_table_2(options: StudyOptions) -> StudyResult:
    """Vocabulary of the sensitive topics in a trained model.

    Table 2 on a simulated background, or on a file of documents.
    """
    if options.seeds is not None:
        raise ParameterError("assess-table-2 shows one model; leave --seeds out.")
    data = options.data or SIMULATED
    topics, iterations = (60, 20) if options.quick else (100, 150)
    texts = _background(options, data)
    return run(AssessTable2Settings(smallest_catalogue(), texts, data, topics, iterations))


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


def run(settings: AssessTable2Settings) -> StudyResult:
    """One row per sensitive topic: our words beside the paper's."""
    parameters = LdaParameters(settings.topics, settings.iterations, workers=1)
    model = train_lda(settings.texts, parameters)
    matching = match_model(settings.catalogue, model)
    eight = salient_words(model.phi.T.astype("float64"), model.vocabulary.terms, SHOWN_WORDS)
    rows = tuple(
        _row(topic, matching, eight, model) | _sizes(settings, model)
        for topic in settings.catalogue.sensitive
    )
    finding = _finding(rows)
    plot = Plot(_figure(rows), finding, f"Bars: words shared with the paper. {finding}")
    notes = NOTES if settings.data != SIMULATED else (*NOTES, SIMULATED_NOTE)
    return StudyResult(rows, (plot,), SHOWN, notes, WIDE)


def _row(
    topic: Topic, matching: Matching, eight: Sequence[tuple[str, ...]], model: LdaModel
) -> Row:
    fits = [fit for fit in matching.fits if fit.topic == topic.name]
    best = max(fits, key=lambda fit: fit.reach, default=None)
    ours = list(eight[best.dimension]) if best else []
    paper = PAPER_WORDS.get(topic.name, [])
    shared = [word for word in ours if word in paper]
    return {
        "topic": topic.name,
        **{name: getattr(best, name, None) for name in ("dimension", "share", "lift", "also")},
        "dimensions": " ".join(str(fit.dimension) for fit in fits) or None,
        "our_words": ours,
        "paper_words": paper,
        "shared_words": shared,
        "overlap": len(shared) if paper and best else None,
        "paper_words_known": sum(word in model.vocabulary.column for word in paper) or None,
    }


def _sizes(settings: AssessTable2Settings, model: LdaModel) -> Row:
    facts = model.origin.corpus
    return {
        "data": settings.data,
        "documents": facts.texts if facts else None,
        "words": len(model.vocabulary),
        "topics": settings.topics,
        "iterations": settings.iterations,
        "model": model.fingerprint,
    }


def _finding(rows: Sequence[Row]) -> str:
    found = [row for row in rows if row["dimension"] is not None]
    overlaps = ", ".join(f"{row['topic']} {row['overlap'] or 0}" for row in found)
    return (
        f"{len(found)} of {len(rows)} sensitive topics have a latent dimension; of the paper's "
        f"{SHOWN_WORDS} words it shares: {overlaps or 'none'}."
    )


def _figure(rows: Sequence[Row]) -> Figure:
    figure, axes = new_figure(height=2.6)
    names = [str(row["topic"]) for row in rows]
    shares = [row["overlap"] if isinstance(row["overlap"], int) else 0 for row in rows]
    axes.barh(names, shares, color=ACCENT)
    axes.set(xlabel="words shared with the paper's eight", xlim=(0, SHOWN_WORDS))
    axes.invert_yaxis()
    return figure
