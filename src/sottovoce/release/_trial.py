"""Releases of made-up documents, written as every release is, for audits to look into.

An audit that only asked the sampler would not see what the plan, the maps or the folder do to its
noise. So documents whose counts are known, half of them empty, some long, go the whole way: through
the ledger, the plan, the public maps and the noise into a folder (`release_to_folder`). What is
read back from that folder, less the known counts through the published maps, is the noise. The same
is asked of word frequencies that are bought, which are published too: in one document of many words
all of which are frequent, so that no frequency is cut, they are its counts and the noise.
"""

import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from io import BytesIO
from math import ceil
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus._vocabulary import Vocabulary
from sottovoce.privacy._guarantee import LimitedPrecision
from sottovoce.privacy.audit._findings import Finding
from sottovoce.privacy.audit._law import audit_law
from sottovoce.privacy.ledger import Ledger
from sottovoce.release._folder import COUNTS_FILE, FREQUENCIES_FILE, MAP_STEM
from sottovoce.release._inputs import CountedDocuments
from sottovoce.release._job import Job, draw_bundle, open_account, release_to_folder
from sottovoce.release._plan import ReleasePlan
from sottovoce.release._settings import PriorKind, ReleaseSettings
from sottovoce.release.compression._frequency import PAID_PRIORS
from sottovoce.release.compression._word_map import WordMap, load_maps

_DOCUMENTS, _WORDS = 2048, 96
_COLUMNS, _MAPS = 48, 2
_LONG, _OFTEN = 64, 1000
# Of the rate, for frequencies; and the side of a square of so many words.
_SHARE, _SIDE = Fraction(1, 2), 64


def audit_whole_way(rate: Fraction) -> list[Finding]:
    """Release made-up documents at ``rate`` in each way that changes how noise is drawn."""
    plain = ReleaseSettings(LimitedPrecision.at_rate(rate))
    counts = made_up_counts()
    ways = {
        "as released": plain,
        "as released, compressed": replace(
            plain, compression="random", columns=_COLUMNS, maps=_MAPS
        ),
        "as released, constant work": replace(plain, constant_work=True),
    }
    found = [
        finding.by(way)
        for way, settings in ways.items()
        for finding in audit_law(noise_of(settings, counts), rate, counts)
    ]
    return found + [
        finding.by(f"frequencies, {kind}")
        for kind in PAID_PRIORS
        for finding in audit_law(bought_noise(plain, kind), rate * _SHARE)
    ]


def made_up_counts() -> "NDArray[np.int64]":
    """A few words in every other document, each of them often in some, and none in the rest."""
    document, word = np.indices((_DOCUMENTS, _WORDS))
    counts = np.where((document * 7 + word * 13) % 11 == 0, 5 + 5 * ((document + word) % 3), 0)
    counts[1::2] = 0
    counts[::_LONG] = _OFTEN
    return counts.astype(np.int64)


def noise_of(settings: ReleaseSettings, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The noise in a released folder of ``counts``."""
    with _released(settings, counts) as folder:
        written = sparse.load_npz(folder / COUNTS_FILE)
        maps = load_maps(folder / MAP_STEM)[0]
    return np.asarray(written.toarray() - mapped(counts, maps), np.int64)


def bought_noise(plain: ReleaseSettings, kind: str) -> NDArray[np.int64]:
    """The noise in the frequencies that a released folder holds, as a square."""
    settings = replace(
        plain,
        compression="random",
        columns=_COLUMNS,
        prior=cast("PriorKind", kind),
        prior_share=_SHARE,
    )
    counts = np.full((1, _SIDE**2), ceil(_SIDE / settings.prior_rate), np.int64)
    with _released(settings, counts) as folder:
        written = np.load(folder / FREQUENCIES_FILE, allow_pickle=False)
    return np.asarray(written - counts[0], np.int64).reshape(_SIDE, _SIDE)


@contextmanager
def _released(settings: ReleaseSettings, counts: NDArray[np.int64]) -> Iterator[Path]:
    """A folder with a release of ``counts``, made the whole way."""
    job = job_of(settings, counts)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ledger = Ledger(folder / "ledger", create=True, counted=False)
        open_account(ledger, job, None)
        release_to_folder(job, ledger, folder / "released")
        ledger.close()
        yield folder / "released"


def mapped(counts: NDArray[np.int64], maps: list[WordMap]) -> NDArray[np.int64]:
    """Each document through its public map, by the definition: each word into one column."""
    out = np.zeros((counts.shape[0], maps[0].columns), np.int64)
    for turn, each in enumerate(maps):
        for word, column in enumerate(each.column.tolist()):
            out[turn :: len(maps), column] += counts[turn :: len(maps), word]
    return out


def job_of(settings: ReleaseSettings, counts: NDArray[np.int64]) -> Job:
    """A release of made-up documents with such counts."""
    words = Vocabulary.public([f"word{i}" for i in range(counts.shape[1])])
    documents = CountedDocuments(sparse.csr_array(counts), words, "made up")
    return Job(documents, ReleasePlan(settings, words.terms))


def written_noise(
    rate: Fraction, threshold: int | None = None
) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """Rows of counts in, what the file of their release holds out: for experiments."""
    settings = ReleaseSettings(LimitedPrecision.at_rate(rate), threshold=threshold)

    def released(counts: NDArray[np.int64]) -> NDArray[np.int64]:
        with tempfile.TemporaryDirectory() as folder:
            bundle = Path(folder) / "bundle"
            draw_bundle(bundle, job_of(settings, counts), None)
            with zipfile.ZipFile(bundle) as archive:
                content = BytesIO(archive.read(COUNTS_FILE))
        return np.asarray(sparse.load_npz(content).toarray())

    return released
