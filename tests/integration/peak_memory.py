"""Read one file to its end and print the peak memory of doing so, in MiB; run as a script."""

import re
import sys
from pathlib import Path

from sottovoce.corpus.reading.corpus import open_documents, open_posts
from sottovoce.errors import CorpusError


def main(kind: str, path: str) -> None:
    opener = open_posts if kind == "posts" else open_documents
    corpus = None
    try:
        corpus = opener(path)
        for _ in corpus:
            pass
        outcome = "read"
    except CorpusError:
        outcome = "refused"
    kept = corpus.tally.rows_kept if corpus else 0
    sys.stdout.write(f"{outcome} {kept} {peak_mib()}\n")


def peak_mib() -> int:
    """Not ru_maxrss: that one starts from the size of the process that started this one."""
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    return int(found[1]) // 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
