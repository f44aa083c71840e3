"""Memory does not grow with the file."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

WORDS = [f"word{number}" for number in range(5000)]
COUNT = """
import resource, sys
from pathlib import Path
from sottovoce.corpus.counting import count_batches
from sottovoce.corpus.reading import open_documents
from sottovoce.corpus.vocabulary import Vocabulary
texts = open_documents(Path(sys.argv[1]))
vocabulary = Vocabulary.public(f"word{number}" for number in range(5000))
cells = sum(block.nnz for block in count_batches((batch["text"] for batch in texts), vocabulary))
print(cells, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def write_file(path: Path, megabytes: int) -> None:
    line = json.dumps({"text": " ".join(WORDS[::10])}) + "\n"
    other = json.dumps({"text": " ".join(WORDS[5::7])}) + "\n"
    block = (line + other) * 200
    with path.open("w") as out:
        for _ in range(megabytes * 1_000_000 // len(block)):
            out.write(block)


def peak_memory(path: Path) -> int:
    command = [sys.executable, "-c", COUNT, str(path)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    cells, peak = map(int, done.stdout.split())
    assert cells > 0
    return peak


@pytest.mark.parametrize(
    ("small_mb", "large_mb"), [(20, 200), pytest.param(100, 1000, marks=pytest.mark.long)]
)
def test_ten_times_the_file_needs_the_same_memory_to_count(
    tmp_path: Path, small_mb: int, large_mb: int
) -> None:
    peaks = []
    for megabytes in (small_mb, large_mb):
        path = tmp_path / "texts.jsonl"
        write_file(path, megabytes)
        peaks.append(peak_memory(path))
    assert peaks[1] < 1.1 * peaks[0], peaks
