"""Training across four peers beside phe and plain ridge.

Same data, same run, processor seconds on one core of all parties together, as all of them are in
one process. Keys and tables are made within the time.
"""

import time
from functools import partial
from importlib.util import find_spec

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.corpus.counts import count_batches, term_statistics
from sottovoce.corpus.read.corpus import open_documents
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import CheckFailedError
from sottovoce.learn import TrainedClassifier, train
from sottovoce.learn.paillier.grid import cores
from sottovoce.learn.ridge import example_vector_size, local_sums, ridge_from_sums
from sottovoce.learn.support import all_kept
from sottovoce_lab._data import data_file
from sottovoce_lab.bench.rows import BenchRow, bench_row, best_time
from sottovoce_lab.learn.data import ionosphere

KEY_BITS = 2048
PENALTY = 0.1
PEERS = 4
RUNS = 3
_TOLERANCE = 1e-6
_SUPPORT_PARTS = 4
_PHE = "phe, number by number, scaled up from a part"
_RIDGE = "scikit-learn's ridge on pooled rows"
_row = partial(bench_row, "learn")


def bench_learn(words: int) -> list[BenchRow]:
    """Ionosphere with sums under masks, and ``words`` features of texts."""
    with cores(1):
        return [*_ionosphere_rows(), *_text_rows(words)]


def _ionosphere_rows() -> list[BenchRow]:
    rows, signs = ionosphere()
    seconds, trained = best_time(lambda: _train_peers(rows, signs), RUNS, time.process_time)
    check_theta(trained, rows, signs)
    numbers = _SUPPORT_PARTS * rows.shape[1] + example_vector_size(
        int(np.count_nonzero(trained.coef_))
    )
    theirs, case = phe_sum_seconds(numbers), "Ionosphere, open, pairwise masks"
    return [_row(case, "CPU s", seconds, _PHE, theirs, less_is_better=True)]


def _text_rows(words: int) -> list[BenchRow]:
    rows, signs = message_rows(words)
    ridge, _ = best_time(lambda: pooled_ridge(rows, signs), RUNS, time.process_time)
    seconds, trained = best_time(lambda: _train_peers(rows, signs), RUNS, time.process_time)
    check_theta(trained, rows, signs)
    case = f"{len(rows):,} messages, {words:,} words, open, pairwise masks"
    return [_row(case, "CPU s", seconds, _RIDGE, ridge, less_is_better=True)]


def _train_peers(rows: Floats, signs: Floats) -> TrainedClassifier:
    """Four peers' training."""
    peers = [(rows[at::PEERS], signs[at::PEERS]) for at in range(PEERS)]
    return train(peers, penalty=PENALTY)


def check_theta(trained: TrainedClassifier, rows: Floats, signs: Floats) -> None:
    """Refuse a bench whose classifier is not ridge's on the features that were kept."""
    used = np.flatnonzero(trained.coef_[0])
    plain = ridge_from_sums(local_sums(rows[:, used], signs, all_kept(used.size)), PENALTY)
    if np.abs(trained.coef_[0, used] - plain.coefficients).max() > _TOLERANCE:
        raise CheckFailedError("the training must give ridge's theta to a millionth.")


def pooled_ridge(rows: Floats, signs: Floats) -> object:
    """What somebody would run who had everybody's rows."""
    from sklearn.linear_model import Ridge  # noqa: PLC0415 - of the extra
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415 - of the extra

    standardised = StandardScaler().fit_transform(rows)
    return Ridge(alpha=PENALTY * len(rows)).fit(standardised, signs)


def phe_sum_seconds(numbers: int, *, part: int = 30) -> float | None:
    """A key, and four peers' numbers encrypted, added and opened one by one, from a part."""
    if find_spec("phe") is None:
        return None
    from phe import paillier  # noqa: PLC0415 - an optional peer

    begin = time.process_time()
    public, private = paillier.generate_paillier_keypair(n_length=KEY_BITS)
    key = time.process_time() - begin
    begin = time.process_time()
    for at in range(part):
        total = public.encrypt(at / 7)
        for _ in range(PEERS - 1):
            total = total + public.encrypt(at / 7)
        private.decrypt(total)
    return key + (time.process_time() - begin) * numbers / part


def message_rows(words: int) -> tuple[Floats, Floats]:
    """Short messages by which of their most frequent words they use; spam is 1."""
    options = ReadOptions(header=("label", "text"))
    table = open_documents(data_file("sms.tsv"), options=options).read_all()
    texts, rules = table["text"].chunks, TokenRules()
    vocabulary = term_statistics(texts, rules).vocabulary(min_texts=2, max_terms=words)
    counts = sparse.vstack(list(count_batches(texts, vocabulary, rules)), format="csr")
    rows = (counts.toarray() > 0).astype(np.float64)
    return rows, np.where(np.array(table["label"].to_pylist()) == "spam", 1.0, -1.0)
