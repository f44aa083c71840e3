"""The audit of a release: its card's noise replayed, and a gross check on the draw itself.

How well the one draw that was published hides its documents cannot be tested, but that there is as
much noise in it as the card says can be, grossly (`audit_presence`). What holds for any counts: a
cell with count y comes out at y + Z, so that the number of cells that are not 0 is at least as
likely to be large as if all counts were 0 (P(y + Z = 0) <= P(Z = 0)). Of C cells

    non-zero cells  >=  Binomial(C, P(Z != 0))   in distribution,

and likewise from a threshold t on, P(y + Z >= t) >= P(Z >= t). Fewer refute the noise.

`CONTROLS` are negative controls: releases that break their promise in known ways, and must be
flagged. One of them draws under a known key, which no mechanism, estimator or command takes.

The audit of a released folder by whoever holds its texts: what is said is in figures.

The texts are counted again by the folder's words, and sent through its public maps; what was
published, less that, is the noise of the one draw, known cell by cell. It is held to all that the
sampler's own noise is held to (`privacy.audit.law`).

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
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray
from scipy import sparse, stats

from sottovoce.arrays import Floats
from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError, ParameterError
from sottovoce.privacy.audit.black_box import audit_noise
from sottovoce.privacy.audit.findings import (
    AuditReport,
    Finding,
    Known,
    audit_freshness,
    audit_lattice,
    audit_porous_support,
    join_reports,
)
from sottovoce.privacy.audit.law import audit_law, fill_dropped
from sottovoce.privacy.audit.lines import Published, audit_lines
from sottovoce.privacy.audit.sampler import audit_mechanism
from sottovoce.privacy.exact import exact
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.privacy.noise_law import NoiseLaw, zero_cell_chance
from sottovoce.release.card import ReleaseCard
from sottovoce.release.compression.word_map import WordMap, load_maps
from sottovoce.release.counts import Counts, CountsFile
from sottovoce.release.folder import (
    MAP_STEM,
    VOCABULARY_FILE,
    ShardedRows,
    released_card,
    released_rows,
    verified_card,
)
from sottovoce.release.groups import Grouping
from sottovoce.release.inputs import ReleaseInputs, documents_schema
from sottovoce.release.plan import account
from sottovoce.release.trial import Draw, LaplaceBaseline, audit_whole_way, written_noise

FALSE_ALARM = 1e-9
# The work of an experiment grows with N squared; the rate it tests is the same at any N.
_LARGEST_N = 1000
_CLAIM = LimitedPrecision(2, 1)
# The paper's synthetic study.
_WORDS, _COLUMNS = 100, 10


def audit_release(folder: Path, *, trials: int | None = None) -> AuditReport:
    """Check the card and the files, then replay the card's mechanism on neighbours.

    How well the one draw that was published hides its documents cannot be tested: what can be is
    that there is noise in it, and that the card's noise keeps the card's promise. An unusable
    folder, or a card that contradicts itself, is an error, not a finding.
    """
    card = verified_card(folder)
    return audit_published(card, released_rows(folder, card), trials=trials)


def audit_published(
    card: ReleaseCard, counts: "Counts | CountsFile | ShardedRows", *, trials: int | None = None
) -> AuditReport:
    """The same for a card and counts that were found to belong together."""
    rate = exact(card.noise_rate, "noise_rate")
    noise = LimitedPrecision.at_rate(rate, n=min(card.guarantee.n, _LARGEST_N))
    replayed = audit_sampler(noise, threshold=card.threshold, trials=trials)
    match counts:
        case sparse.csr_array():
            seen = audit_cells(card, counts)
        case CountsFile():
            seen = audit_cells(card, counts.whole())
        case _:
            seen = counts.audit(card)
    return AuditReport((*seen.findings, *replayed.findings))


def audit_cells(card: ReleaseCard, counts: Counts, parts: int = 1) -> AuditReport:
    """What can be seen in the published counts themselves, whatever the documents were.

    ``parts``: of how many that are looked at these counts are one.
    """
    rate = exact(card.noise_rate, "noise_rate")
    presence = audit_presence(counts, rate, card.threshold, parts)
    published = Published(counts, rate, card.threshold, parts)
    return AuditReport((*presence.findings, *audit_lines(published)))


def audit_sampler(
    claim: LimitedPrecision,
    *,
    threshold: int | None = None,
    trials: int | None = None,
    others: dict[str, Draw] | None = None,
) -> AuditReport:
    """Audit noise at ``claim`` by the function that writes releases: what ``--sampler`` does.

    ``others`` are further functions that write releases, by their names.
    """
    mechanism = audit_mechanism(claim, threshold=threshold, trials=trials, written=written_noise)
    return AuditReport((*mechanism.findings, *audit_whole_way(claim.rate, threshold, others)))


def audit_presence(
    counts: sparse.csr_array, rate: Fraction, threshold: int | None = None, parts: int = 1
) -> AuditReport:
    """Refuse counts with fewer cells than noise at ``rate`` leaves of zeros alone.

    Nor may a zero be stored, nor what a threshold drops: they tell of a count before the noise.
    """
    cells = counts.shape[0] * counts.shape[1]
    chance = zero_cell_chance(rate, threshold)
    seen = int(counts.count_nonzero())
    least = int(stats.binom.ppf(FALSE_ALARM / parts, cells, chance))
    idle = int((counts.data == 0 if threshold is None else counts.data < threshold).sum())
    finding = Finding(
        name="noise in the published counts",
        holds=seen >= least and not idle,
        detail=f"{seen} of {cells} cells are not 0; noise alone leaves at least {least}; "
        f"{idle} cells that say nothing are stored, where counts may have been",
    )
    return AuditReport((finding,))


def audit_control(name: str) -> AuditReport:
    """Run the control ``name``; its report must not hold."""
    if name not in CONTROLS:
        raise ParameterError(f"control must be one of {', '.join(CONTROLS)}.")
    return CONTROLS[name]()


def paper_accounting() -> AuditReport:
    """The per-entry budget M epsilon / K, claimed as epsilon (paper, section 4)."""
    noisy = GeometricMechanism(account(_CLAIM, "paper", words=_WORDS, columns=_COLUMNS).rate)
    return audit_noise(_CLAIM, noisy.dense, trials=1 << 19)


def float_noise() -> AuditReport:
    """Laplace noise in double precision."""
    laplace = LaplaceBaseline(rate=float(_CLAIM.rate))
    findings = audit_porous_support(laplace).findings + audit_lattice(laplace.release).findings
    return AuditReport(findings)


def reused_keystream() -> AuditReport:
    """The exact sampler, fed the same random bits twice."""
    rate = Fraction(1, 2)
    noisy = _ReusedKeystream(rate)
    return audit_freshness(rate, lambda number: noisy.noise(number).astype(np.int64))


class FixedKeystream:
    """AES-256-CTR under the key that ``seed`` names: draws that repeat, never for a release."""

    def __init__(self, seed: int) -> None:
        self._cipher = Cipher(AES(seed.to_bytes(32, "big")), CTR(bytes(16))).encryptor()

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Overwrite ``out`` with the next bytes of the keystream."""
        self._cipher.update_into(bytes(out.size), out.data)


class _ReusedKeystream(GeometricMechanism):
    """Every call and every thread under the same key."""

    _make_source = staticmethod(lambda: FixedKeystream(0))


CONTROLS: dict[str, Callable[[], AuditReport]] = {
    "paper-accounting": paper_accounting,
    "float-noise": float_noise,
    "reused-keystream": reused_keystream,
}


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
    true = _count_again(folder, card, texts, reading, stop_words)
    rate, maps = exact(card.noise_rate, "noise_rate"), load_maps(folder / MAP_STEM)[0]
    height = max(1, _PART_CELLS // max(card.columns, card.words))
    chosen = np.linspace(0, (card.documents - 1) // height, _MOST_PARTS).astype(int)
    parts = {int(each) for each in chosen}
    reports, scores = [], _Search(true, maps, rate, card.threshold)
    for number, block in enumerate(released_rows(folder, card).blocks(height)):
        first = number * height
        scores.look(first, block)
        if number in parts:
            known = _find_noise(
                block, true[first : first + height], maps, first, rate, card.threshold
            )
            reports.append(AuditReport(tuple(audit_law(known, len(parts)))))
    mean = float(true.sum()) / card.documents
    told = Finding(
        "a whole row of the mean length",
        holds=True,
        detail=card.guarantee.whole_in_words(mean, card.row),
        is_figure=True,
    )
    found = join_reports(reports).findings
    return AuditReport(
        (scores.finding(), told, *(each.name_way("given the texts") for each in found))
    )


def _count_again(
    folder: Path, card: ReleaseCard, texts: Source, reading: ReadOptions, stop_words: str | None
) -> Counts:
    grouping = None if card.groups is None else Grouping(**card.groups)
    inputs = ReleaseInputs(
        texts,
        reading if grouping is None else reading.with_columns(label=grouping.by),
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


def _find_noise(
    block: Counts,
    true: Counts,
    maps: list[WordMap],
    first: int,
    rate: Fraction,
    threshold: int | None,
) -> Known:
    words, published = true.toarray(), np.asarray(block.toarray(), np.int64)
    columns = _apply_maps(true, maps, first)
    noise = fill_dropped(published, columns, rate, threshold)
    return Known(noise, columns, rate, words, np.zeros(len(words), np.int64))


def _apply_maps(true: Counts, maps: list[WordMap], first: int) -> NDArray[np.int64]:
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
