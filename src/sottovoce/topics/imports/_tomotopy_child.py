"""Reads one tomotopy file in a process of its own: its loader ends the process on a damaged one.

Run as ``python -m sottovoce.topics.imports._tomotopy_child MODEL OUT``.
"""

import json
import sys
from pathlib import Path

import numpy as np

from sottovoce.topics.lda.train import load_tomotopy

NUMBERS, WORDS = "numbers.npz", "words.json"


def main(source: str, out: str) -> None:
    """Write what the model in ``source`` is made of into the folder ``out``."""
    model = load_tomotopy(Path(source))
    phi = np.array([model.get_topic_word_dist(topic) for topic in range(model.k)], np.float64)
    np.savez(Path(out, NUMBERS), phi=phi, alpha=np.asarray(model.alpha, np.float64))
    Path(out, WORDS).write_text(json.dumps(list(model.used_vocabs)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
