"""Read one file as the product does; print what became of it, processor seconds and MiB grown.

Run as a script with a file's kind, as `support.crafted_files` names it, and its path.
"""

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from peak_memory import peak_mib  # type: ignore[import-not-found] # beside this script

from sottovoce.assess.evaluation.metrics import read_ranks
from sottovoce.corpus.read.corpus import Corpus, open_documents, open_posts, read_truth
from sottovoce.corpus.read.guessed import guessed_reading
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.corpus.schema import DOCUMENTS, POSTS
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import SottovoceError
from sottovoce.federation.roster import load_roster
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.release.card import read_card
from sottovoce.release.counts import CountsFile
from sottovoce.release.job import load_frequencies
from sottovoce.topics import model_file
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.imports.files import import_mallet, import_word2vec
from sottovoce.topics.judgements.profiles import load_key
from sottovoce.topics.judgements.votes import read_rows

GIB = 1 << 30
LIMIT_S = 30


def read_posts(path: Path) -> None:
    """Every batch of posts, as `sottovoce assess` reads them."""
    read = guessed_reading(path, POSTS, ReadOptions(encoding="utf-8"))
    passed(open_posts(path, options=read.options))


def read_documents(path: Path) -> None:
    """Every batch of documents."""
    read = guessed_reading(path, DOCUMENTS, ReadOptions(encoding="utf-8"))
    passed(open_documents(path, options=read.options))


def passed(corpus: Corpus) -> None:
    """Look at every batch, and keep none."""
    for _ in corpus:
        pass


def rules(path: Path) -> None:
    """The rules of a rank server."""
    from sottovoce.statement import read_rules  # noqa: PLC0415 - few need it

    read_rules(path)


def every_row(path: Path) -> None:
    """The rows of a sheet."""
    for _ in read_rows(path):
        pass


READERS: dict[str, Callable[[Path], object]] = {
    "posts": read_posts,
    "documents": read_documents,
    "log": read_posts,
    "truth": read_truth,
    "catalogue": Catalogue.load,
    "roster": load_roster,
    "release-card": lambda path: read_card(path.read_text(encoding="utf-8")),
    "counts": lambda path: CountsFile(path).whole(),
    "model-card": model_file.read_card,
    "vocabulary": Vocabulary.load,
    "frequencies": lambda path: load_frequencies(path, Vocabulary.public(["word1", "word2"])),
    "ranks": read_ranks,
    "run": read_ranks,
    "votes": every_row,
    "profiles": load_key,
    "state": import_mallet,
    "vectors": import_word2vec,
    "together": lambda path: TogetherCounts.from_bytes(path.read_bytes()),
    "rules": rules,
}


def main(path: Path) -> None:
    """Read it, within limits that stand for a machine's."""
    resource.setrlimit(resource.RLIMIT_AS, (16 * GIB, 16 * GIB))
    used = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + LIMIT_S, used + LIMIT_S))
    before, began = peak_mib(), time.process_time()
    try:
        READERS[path.name.partition(".")[0]](path)
        outcome = "read"
    except SottovoceError as error:
        outcome = "refused"
        sys.stderr.write(f"{error}\n")
    spent = time.process_time() - began
    sys.stdout.write(f"{outcome} {spent:.4f} {peak_mib() - before}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
