"""Released folders to read topics from, and the peak memory of reading one; run as a module.

The process loads the folder, reads its topics and prints its high-water mark: all of it, since a
reader's machine must hold the libraries too. A longer folder repeats the documents of another one:
what memory it takes does not depend on what they say.
"""

import subprocess
import sys
import zipfile
from dataclasses import replace
from fractions import Fraction
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.corpus.matrix_file import write_matrix
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.files import file_digest
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.release.counts import Counts
from sottovoce.release.counts_file import CountsFile
from sottovoce.release.folder import CARD_FILE, COUNTS_FILE, released_card
from sottovoce.release.inputs import CountedDocuments
from sottovoce.release.job import Job, draw_bundle
from sottovoce.release.plan import ReleasePlan, ReleaseSettings
from sottovoce.release.release import load_release
from sottovoce.release.topics.estimator import PrivateTopics
from sottovoce_lab.bench._memory import high_water_mark

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK_ROWS = 4096


def released_folder(counts: Counts, rate: float, folder: Path) -> Path:
    """A release of made-up documents with such ``counts``, in ``folder``."""
    words = Vocabulary.public([f"word{place}" for place in range(counts.shape[1])])
    settings = ReleaseSettings(LimitedPrecision.at_rate(Fraction(rate)))
    documents = CountedDocuments(counts, words, "made up")
    bundle = folder.with_suffix(".bundle")
    draw_bundle(bundle, Job(documents, ReleasePlan(settings, words.terms)), None)
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(folder)
    bundle.unlink()
    return folder


def longer_folder(folder: Path, times: int, out: Path) -> Path:
    """The release of ``folder`` so many times over, as one of as many more documents."""
    out.mkdir()
    card = released_card(folder)
    for name in {*card.files, CARD_FILE} - {COUNTS_FILE, CARD_FILE}:
        (out / name).write_bytes((folder / name).read_bytes())
    file = CountsFile(folder / COUNTS_FILE)
    rows, _ = write_matrix(out / COUNTS_FILE, _blocks(file, times), file.shape[1], dtype="<i8")
    files = {**card.files, COUNTS_FILE: file_digest(out / COUNTS_FILE)}
    longer = replace(card, documents=rows, files=files)
    (out / CARD_FILE).write_text(longer.as_json(), encoding="utf-8")
    return out


def _blocks(file: CountsFile, times: int) -> "Iterator[Counts]":
    return chain.from_iterable(map(file.blocks, repeat(_BLOCK_ROWS, times)))


def reading_memory(folder: Path, topics: int) -> int:
    """The most bytes that a process holds which reads the topics of ``folder``."""
    command = [sys.executable, "-m", __name__, str(folder), str(topics)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - ourselves
    return int(done.stdout)


def main(folder: str, topics: str) -> None:
    """What the process does."""
    PrivateTopics(int(topics)).fit(load_release(folder))
    sys.stdout.write(str(high_water_mark()))


if __name__ == "__main__":
    main(*sys.argv[1:])
