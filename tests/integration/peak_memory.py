"""Read one file to its end, or count its words; print the peak memory, and what it was before.

Run as a script.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.read.corpus import Corpus, open_documents, open_posts
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import CorpusError


def main(kind: str, path: str) -> None:
    opener = open_posts if kind == "posts" else open_documents
    corpus, before = None, peak_mib()
    try:
        corpus = opener(path)
        rows = count_words(corpus) if kind == "counts" else corpus
        for _ in rows:
            pass
        outcome = "read"
    except CorpusError:
        outcome = "refused"
    kept = corpus.tally.rows_kept if corpus else 0
    sys.stdout.write(f"{outcome} {kept} {peak_mib()} {before}\n")


def count_words(corpus: Corpus) -> Iterator[object]:
    vocabulary = Vocabulary.public(f"word{number}" for number in range(5000))
    return count_batches((batch["text"] for batch in corpus), vocabulary)


def peak_mib() -> int:
    """Not ru_maxrss: that one starts from the size of the process that started this one."""
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    return int(found[1]) // 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
