"""Releases of made-up documents, by the function that writes releases, for audits to look into.

An audit that only asked the sampler would not see what the plan, the maps or the file do to its
noise. So documents whose counts are known go the whole way: through the plan, the public maps and
the noise into the bundle that is kept and published (`draw_bundle`). What is read back, less the
known counts through the published maps, is the noise, known cell by cell (`privacy.audit.law`).

The documents are unlike each other: empty, of one word, of few, of all words, twice the same, with
counts of 0, 1, 2, some and a million; they are released few and many at a time, together and in
draw after draw, in every way that changes how noise is drawn, at several rates. The same is asked
of word frequencies that are bought: in documents whose words are all frequent, so that no frequency
is cut, they are the counts and the noise.

Beside them stands the audit's negative control, `LaplaceBaseline`. Laplace noise in floating point
is the textbook mechanism, **not private as computed**. On the reals, y + Laplace(1/r) is (N, r
N)-limited-precision private. In floating point its outputs lie on a sparse, y-dependent set of
doubles, so single outputs can rule a neighbour out (Mironov, "On significance of the least
significant bits for differential privacy", CCS 2012); `reachable` decides which.
"""

import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.privacy.audit.findings import Finding, Known
from sottovoce.privacy.audit.law import audit_law, audit_together, fill_dropped
from sottovoce.privacy.guarantee import LimitedPrecision, NoGuarantee
from sottovoce.release.compression.embedding import Embedding
from sottovoce.release.compression.frequency import PAID_PRIORS
from sottovoce.release.compression.word_map import WordMap, load_maps
from sottovoce.release.folder import COUNTS_FILE, FREQUENCIES_FILE, MAP_STEM
from sottovoce.release.inputs import CountedDocuments
from sottovoce.release.job import Job, draw_bundle
from sottovoce.release.plan import PriorKind, ReleasePlan, ReleaseSettings

Dense: TypeAlias = NDArray[np.int64]
_DOCUMENTS, _WORDS = 512, 96
_COLUMNS, _MAPS = 48, 3
_RATES = (Fraction(1, 20), Fraction(1, 2), Fraction(3, 2), Fraction(4))
_SPARSE_RATE = Fraction(4)
_SMALL = (1, 1, 1, 2, 2, 3, 4, 5, 7, 10, 12, 20)
_VALUES = (*_SMALL, 49, 50, 64, 100, 255, 256, 1000, 65_536, 1_000_000)
# Of the rate, for frequencies; and the side of a square of so many words.
_SHARE, _SIDE = Fraction(1, 2), 64


class DrawnRelease(NamedTuple):
    """What a way of releasing has published of a job."""

    counts: Dense
    maps: list[WordMap]
    frequencies: NDArray[np.float64]


Draw: TypeAlias = Callable[[Job], DrawnRelease]


@dataclass(frozen=True, eq=False)
class PublishingWay:
    """One way to release: settings, the documents of each draw, and who draws."""

    settings: ReleaseSettings
    counts: Sequence[Dense]
    draw: Draw


def audit_whole_way(
    rate: Fraction, threshold: int | None = None, others: dict[str, Draw] | None = None
) -> list[Finding]:
    """Release made-up documents at ``rate`` in each way that changes how noise is drawn.

    ``others`` are further ways to draw a job, by their names.
    """
    ways = list_ways(rate, threshold, others or {})
    known = {name: draw_noise(way) for name, way in ways.items()}
    plain = ReleaseSettings(LimitedPrecision.at_rate(rate))
    known |= {f"frequencies, {kind}": frequency_noise(plain, kind) for kind in PAID_PRIORS}
    same = [each for each in known.values() if each.rate == rate]
    parts = len(known) + 1
    return [
        *(each.name_way(name) for name, noise in known.items() for each in audit_law(noise, parts)),
        *(each.name_way("all that was released") for each in audit_together(same, parts)),
    ]


def list_ways(
    rate: Fraction, threshold: int | None, others: dict[str, Draw]
) -> dict[str, PublishingWay]:
    """Every way to release at ``rate``, and the plain one at other rates too."""
    plain = ReleaseSettings(LimitedPrecision.at_rate(rate))
    rare = replace(plain, guarantee=LimitedPrecision.at_rate(_SPARSE_RATE))
    once, numbers = [made_up_counts()], np.arange(1.0, _WORDS + 1)
    # Widths and heights that leave the kernels' last vector partly filled.
    small = [made_up_counts(each, 1 + each % 9, 41) for each in range(48)]
    map_ = replace(plain, compression="random", columns=_COLUMNS)
    words = tuple(f"word{i}" for i in range(_WORDS))
    vectors = np.random.default_rng(0).normal(size=(_WORDS, 8)).astype(np.float32)
    near = Embedding(words, vectors)
    embedded = {
        kind: replace(map_, compression=kind, embedding=near)
        for kind in ("embedding-cluster", "embedding-disperse")
    }
    bought = replace(map_, compression="frequency", prior="local", prior_share=_SHARE)
    settings = {
        "as released": plain,
        "compressed": map_,
        "constant work": replace(plain, constant_work=True),
        "compressed, several maps": replace(map_, maps=_MAPS),
        "compressed by frequency": replace(map_, compression="frequency", frequencies=numbers),
        "compressed by bought frequencies": bought,
        **{f"compressed, {kind}": each for kind, each in embedded.items()},
        "paper accounting": replace(map_, accounting="paper"),
        "constant work, rare noise": replace(rare, constant_work=True),
        **{f"from {t} on": replace(plain, threshold=t) for t in {1, 2, threshold or 2}},
        "from 1 on, rare noise": replace(rare, threshold=1),
        "from 2 on, constant work": replace(plain, threshold=2, constant_work=True),
    }
    settings |= {
        f"rate {each}": replace(plain, guarantee=LimitedPrecision.at_rate(each))
        for each in _RATES
        if each != rate
    }
    ways = {name: PublishingWay(each, once, draw_release) for name, each in settings.items()}
    ways["as released"] = PublishingWay(plain, 2 * once, draw_release)
    steady = settings["constant work"]
    for name, each in (("", plain), (", rare noise", rare), (", constant work", steady)):
        ways[f"few at a time{name}"] = PublishingWay(each, small, draw_release)
        # So many cells that two threads share them, or one goes on to a second block.
        many = made_up_counts(1, 400 if each is rare else 900, 600)
        ways[f"many at once{name}"] = PublishingWay(each, [many], draw_release)
    for name, draw in others.items():
        several = "compressed, several maps"
        for how in ("as released", several, "rate 4", "constant work", "from 2 on"):
            if how in settings:
                ways[f"{name}, {how}"] = PublishingWay(settings[how], once, draw)
    return ways


def made_up_counts(seed: int = 0, documents: int = _DOCUMENTS, words: int = _WORDS) -> Dense:
    """Documents unlike each other: a few words each, none, one, all; some of them twice."""
    chance = np.random.default_rng(seed)
    share = np.array([0, 0, 1 / words, 0.05, 0.1, 0.3, 0.7, 1])[chance.integers(0, 8, documents)]
    common = np.array([0.2, 0.5, 1, 2])[chance.integers(0, 4, words)]
    held = chance.random((documents, words)) < np.outer(share, common)
    # A third of the documents have counts of 1 alone, as short texts do.
    few = np.where(chance.random(documents) < 1 / 3, 1, len(_VALUES))[:, None]
    counts = np.array(_VALUES)[chance.integers(0, 1 << 20, held.shape) % few] * held
    counts[:, words // 2] = 0
    counts[7::16] = counts[: documents - 7 : 16][: counts[7::16].shape[0]]
    return np.asarray(counts, np.int64)


def draw_noise(way: PublishingWay) -> Known:
    """The noise that a way of releasing puts on its documents, draw after draw."""
    noise, truth = [], []
    threshold = way.settings.threshold
    for counts in way.counts:
        job = make_job(way.settings, counts)
        drawn, rate = way.draw(job), job.plan.noise_rate
        true = apply_maps(counts, drawn.maps)
        noise.append(fill_dropped(drawn.counts, true, rate, threshold))
        truth.append(true)
    draws = np.repeat(np.arange(len(noise)), [each.shape[0] for each in noise])
    return Known(np.vstack(noise), np.vstack(truth), rate, np.vstack(way.counts), draws)


def draw_release(job: Job) -> DrawnRelease:
    """What the bundle of a release holds, read back."""
    with tempfile.TemporaryDirectory() as name:
        bundle = Path(name) / "bundle"
        draw_bundle(bundle, job, None)
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(name)
        counts = sparse.load_npz(Path(name) / COUNTS_FILE).toarray()
        frequencies = np.load(Path(name) / FREQUENCIES_FILE, allow_pickle=False)
        return DrawnRelease(counts, load_maps(Path(name) / MAP_STEM)[0], frequencies)


def frequency_noise(plain: ReleaseSettings, kind: str) -> Known:
    """The noise in bought frequencies, of one document in each of `_SIDE` releases."""
    prior = cast("PriorKind", kind)
    map_ = replace(plain, compression="random", columns=_COLUMNS)
    settings = replace(map_, prior=prior, prior_share=_SHARE)
    # Words so frequent that noise hardly ever takes one below 0, where it would be cut.
    least = ceil(40 / settings.prior_rate)
    words = np.arange(_SIDE)[None, :] % 5 + least
    noise = [draw_release(make_job(settings, words)).frequencies - words[0] for _ in range(_SIDE)]
    truth = np.repeat(words - least, _SIDE, axis=0)
    return Known(np.array(noise, np.int64), truth, settings.prior_rate, truth, np.arange(_SIDE))


def apply_maps(counts: Dense, maps: list[WordMap]) -> Dense:
    """Each document through its public map, by the definition: each word into one column."""
    out = np.zeros((counts.shape[0], maps[0].columns), np.int64)
    for turn, each in enumerate(maps):
        for word, column in enumerate(each.column.tolist()):
            out[turn :: len(maps), column] += counts[turn :: len(maps), word]
    return out


def make_job(settings: ReleaseSettings, counts: Dense) -> Job:
    """A release of made-up documents with such counts."""
    words = Vocabulary.public([f"word{i}" for i in range(counts.shape[1])])
    documents = CountedDocuments(sparse.csr_array(counts), words, "made up")
    return Job(documents, ReleasePlan(settings, words.terms))


def written_noise(rate: Fraction, threshold: int | None = None) -> Callable[[Dense], Dense]:
    """Rows of counts in, what a release draws for them out: for experiments."""
    settings = ReleaseSettings(LimitedPrecision.at_rate(rate), threshold=threshold)

    def draw_counts(counts: Dense) -> Dense:
        job = make_job(settings, counts)
        return np.asarray(job.draw().counts.toarray())

    return draw_counts


_GRID = 2.0**53
# The logarithm is rounded: the grid point that gave an output is within a few of its inverse.
_NEARBY = np.arange(-4, 5, dtype=np.float64)


@dataclass(frozen=True)
class LaplaceBaseline:
    """counts + sign * log(u) / rate, with u uniform on multiples of 2^-53."""

    rate: float
    seed: int = 0

    @property
    def guarantee(self) -> NoGuarantee:
        """None in floating point, whatever the rate."""
        return NoGuarantee("floating-point outputs can rule a neighbouring document out.")

    def release(self, counts: NDArray[np.integer]) -> NDArray[np.float64]:
        """``counts`` under noise of standard deviation sqrt(2) / rate."""
        generator = np.random.default_rng(self.seed)
        grid = generator.integers(1, 1 << 53, size=counts.shape, endpoint=True)
        signs = generator.integers(0, 2, size=counts.shape) * 2 - 1
        return counts + signs * self._magnitude(grid.astype(np.float64))

    def reachable(self, outputs: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
        """Whether some draw of the noise takes ``count`` to each of ``outputs``, bit for bit."""
        offset = np.asarray(outputs - count)[..., np.newaxis]
        near = np.rint(np.exp(-np.abs(offset) * self.rate) * _GRID) + _NEARBY
        tried = self._magnitude(np.clip(near, 1, _GRID)) * np.sign(offset)
        return np.asarray((count + tried == outputs[..., np.newaxis]).any(axis=-1))

    def _magnitude(self, grid: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(-np.log(grid / _GRID) / self.rate)
