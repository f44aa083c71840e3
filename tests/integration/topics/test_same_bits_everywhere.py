"""A score has the same bits whether its kernel was compiled just now or came from the cache."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCORED = """
import hashlib
import numpy as np
from scipy import sparse
from sottovoce.topics.lda import _infer as infer
from sottovoce.topics.w2v import model as cosines

generator = np.random.default_rng(0)
topics, words, posts = 103, 400, 300
phi = generator.gamma(0.1, size=(words, topics)).astype(np.float32)
alpha = np.full(topics, 0.1)
counts = sparse.random_array((posts, words), density=0.03, rng=generator, format="csr")
counts.data[:] = 1 + np.floor(3 * counts.data)
rows = counts.indptr.astype(np.int64), counts.indices.astype(np.int32), counts.data
pointers, sets = np.arange(topics + 1, dtype=np.int64), np.arange(topics, dtype=np.int64)
latent = np.zeros((posts, topics))
infer.cosines_with_dimensions(*rows, phi, alpha, pointers, sets, 0, posts, latent)
vectors = generator.normal(size=(words, 51)).astype(np.float32)
units = generator.normal(size=(51, 7))
norms, known = np.zeros(words), np.zeros((words, 7))
cosines.word_cosines(vectors, units, 0, words, norms, known)
near = np.zeros((posts, 7))
cosines.post_cosines(*rows, vectors, norms, known, True, 0, posts, near)
for scores in (latent, known, near):
    print(hashlib.sha256(scores.tobytes()).hexdigest())
"""


def scored(cache: Path, **settings: str) -> str:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)} | settings
    command = [sys.executable, "-c", SCORED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_no_kernel_lets_the_compiler_order_its_sums() -> None:
    sources = (ROOT / "src").rglob("*.py")
    assert not [path for path in sources if "fastmath=" in path.read_text(encoding="utf-8")]


@pytest.mark.long
def test_a_fresh_and_a_cached_kernel_and_a_plainer_processor_agree(tmp_path: Path) -> None:
    fresh = scored(tmp_path / "cache")
    assert scored(tmp_path / "cache") == fresh
    assert scored(tmp_path / "other", NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="") == fresh
