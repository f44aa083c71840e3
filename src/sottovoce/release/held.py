"""The audit of a released folder by whoever holds its texts: what is said is in figures.

The texts are counted again by the folder's words, and sent through its public maps; what was
published, less that, is the noise of the one draw, known cell by cell. It is held to all that the
sampler's own noise is held to (`privacy.audit._law`).

And a row is looked for by its text, as somebody would who has both: rows are ranked by

    ln P(row | the text's counts) - ln P(row | none),

over the text's own columns. How often the true row is first is a fact of this draw and this corpus,
and no bound: it says what the promise leaves open for texts as long as these.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError
from sottovoce.privacy.audit.classes import Known
from sottovoce.privacy.audit.findings import AuditReport, Finding, together
from sottovoce.privacy.audit.law import audit_law, filled
from sottovoce.privacy.exact import exact
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.audit import audit_release
from sottovoce.release.card import ReleaseCard
from sottovoce.release.compression.word_map import WordMap, load_maps
from sottovoce.release.counts import Counts
from sottovoce.release.folder import (
    MAP_STEM,
    VOCABULARY_FILE,
    released_card,
    released_rows,
    verified_card,
)
from sottovoce.release.groups import Grouping
from sottovoce.release.inputs import ReleaseInputs, documents_schema

_PART_CELLS, _MOST_PARTS = 1 << 21, 16
_LOOKED_FOR, _SCORES = 200, 1 << 25
_TINY = 1e-300


def audit_held(
    folder: Path,
    texts: Source,
    read: Callable[[pa.Schema], ReadOptions],
    stop_words: str | None = None,
    trials: int | None = None,
) -> AuditReport:
    """Audit a folder given the ``texts`` that it was made of, ``read`` by what its card counted."""
    reading = read(documents_schema(released_card(folder).documents_per_user))
    held = audit_with_texts(folder, texts, reading, stop_words)
    return AuditReport(held.findings + audit_release(folder, trials=trials).findings)


def audit_with_texts(
    folder: Path, texts: Source, reading: ReadOptions, stop_words: str | None = None
) -> AuditReport:
    """Hold the noise in ``folder`` to its card, given the ``texts`` that it was made of."""
    card = verified_card(folder)
    true = _recounted(folder, card, texts, reading, stop_words)
    rate, maps = exact(card.noise_rate, "noise_rate"), load_maps(folder / MAP_STEM)[0]
    height = max(1, _PART_CELLS // max(card.columns, card.words))
    chosen = np.linspace(0, (card.documents - 1) // height, _MOST_PARTS).astype(int)
    parts = {int(each) for each in chosen}
    reports, scores = [], _Search(true, maps, rate, card.threshold)
    for number, block in enumerate(released_rows(folder, card).blocks(height)):
        first = number * height
        scores.look(first, block)
        if number in parts:
            known = _known(block, true[first : first + height], maps, first, rate, card.threshold)
            reports.append(AuditReport(tuple(audit_law(known, len(parts)))))
    mean = float(true.sum()) / card.documents
    told = Finding(
        "a whole row of the mean length",
        holds=True,
        detail=card.guarantee.whole_in_words(mean, card.row),
        is_figure=True,
    )
    found = together(reports).findings
    return AuditReport((scores.finding(), told, *(each.by("given the texts") for each in found)))


def _recounted(
    folder: Path, card: ReleaseCard, texts: Source, reading: ReadOptions, stop_words: str | None
) -> Counts:
    grouping = None if card.groups is None else Grouping(**card.groups)
    inputs = ReleaseInputs(
        texts,
        reading if grouping is None else reading.named(label=grouping.by),
        Vocabulary.load(folder / VOCABULARY_FILE),
        stop_words=stop_words,
        user_documents=card.documents_per_user,
        declared=True,
        grouping=grouping,
    )
    counts = inputs.load(inputs.open())[0].counts
    if not isinstance(counts, sparse.csr_array) or counts.shape[0] != card.documents:
        raise InputError(
            f"the texts make {counts.shape[0]:,} rows and the release has {card.documents:,}; "
            "give the file it was made of, and read it as then."
        )
    return counts


def _known(
    block: Counts,
    true: Counts,
    maps: list[WordMap],
    first: int,
    rate: Fraction,
    threshold: int | None,
) -> Known:
    words, published = true.toarray(), np.asarray(block.toarray(), np.int64)
    columns = _through(true, maps, first)
    noise = filled(published, columns, rate, threshold)
    return Known(noise, columns, rate, words, np.zeros(len(words), np.int64))


def _through(true: Counts, maps: list[WordMap], first: int) -> NDArray[np.int64]:
    """Each document through the map of its place."""
    columns = np.zeros((true.shape[0], maps[0].columns), np.int64)
    for turn in range(min(len(maps), true.shape[0])):
        chosen = true[turn :: len(maps)]
        columns[turn :: len(maps)] = (chosen @ maps[(first + turn) % len(maps)].matrix).toarray()
    return columns


class _Search:
    """Some texts are looked for among all rows."""

    def __init__(
        self, true: Counts, maps: list[WordMap], rate: Fraction, threshold: int | None
    ) -> None:
        rows = true.shape[0]
        number = max(1, min(rows, _LOOKED_FOR, _SCORES // rows))
        self.chosen = np.unique(np.linspace(0, rows - 1, number).astype(int))
        self._true, self._maps, self._law = true[self.chosen], maps, NoiseLaw(float(rate))
        self._threshold = threshold
        self._scores = np.empty((self.chosen.size, rows), np.float32)

    def look(self, first: int, block: Counts) -> None:
        """Compare every text with these rows."""
        maps, columns = self._maps, sparse.csc_array(block)
        place = (first + np.arange(block.shape[0])) % len(maps)
        for group, each in enumerate(maps):
            rows = np.flatnonzero(place == group)
            own = columns[rows] if len(maps) > 1 else columns
            for i, text in enumerate(self._texts(each)):
                held = np.flatnonzero(text)
                seen = own[:, held].toarray()
                gain = self._log(seen, text[held]) - self._log(seen, np.zeros_like(text[held]))
                self._scores[i, first + rows] = gain.sum(axis=1)

    def finding(self) -> Finding:
        """How often a text's own row is the likeliest, and how many are as likely in the middle."""
        own = self._scores[np.arange(self.chosen.size), self.chosen][:, None]
        better = (self._scores > own).sum(axis=1)
        alike = (self._scores == own).sum(axis=1)
        share = float(np.where(better == 0, 1 / alike, 0).mean())
        rank = float(np.median(better + (alike + 1) / 2))
        rows = self._scores.shape[1]
        return Finding(
            "a row looked for by its text",
            holds=True,
            detail=f"whoever has a text finds its row at once in {share:.1%} of "
            f"{self.chosen.size} tries among {rows} rows (by guessing: {1 / rows:.1%}); its median "
            f"rank is {rank:g}. That is no failure: it is what this release leaves open",
            is_figure=True,
        )

    def _texts(self, through: WordMap) -> Iterator[NDArray[np.int64]]:
        yield from (self._true @ through.matrix).toarray()

    def _log(self, seen: NDArray[np.int64], counts: NDArray[np.int64]) -> Floats:
        """Give ln P(out | count), but for what is the same for all counts."""
        drawn = -self._law.rate * np.abs(seen - counts)
        if self._threshold is None:
            return np.asarray(drawn)
        below = 1 - self._law.at_least(self._threshold - counts)
        gone = np.log(np.maximum(below / self._law.most_common, _TINY))
        return np.where(seen == 0, gone, drawn)
