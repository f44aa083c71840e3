"""Counting words: ours, scikit-learn's CountVectorizer, Python's ``re``; same text, same tokens."""

import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import cast

import numpy as np
import pyarrow as pa
from scipy import sparse

from sottovoce.compiled import available_cores
from sottovoce.corpus.counts import Counts, count
from sottovoce.corpus.read.corpus import open_documents
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate
from sottovoce.errors import CheckFailedError
from sottovoce_lab._data import DataAbsentError, data_file
from sottovoce_lab.bench.rows import BenchRow, Work, bench_row, best_times

REPEATS = 3
# Each turn of ours lasts a while, so that a moment's interruption does not decide.
TURNS_S = 20.0
UNIT = "MB/s"
SKLEARN, PYTHON = "sklearn CountVectorizer", "python re"
ONE, TWO = "ours, one thread", "ours, two threads"
_SHORT_POSTS_USERS = 2000
_WORD = re.compile(r"\w\w+")


def bench_tokenize(size_mb: float) -> list[BenchRow]:
    """All cases, each on ``size_mb`` megabytes of text in memory."""
    rows = []
    for case, load in (("complaints", _complaints), ("short posts", _short_posts)):
        texts = load()
        if texts is None:
            sys.stderr.write("cfpb.jsonl is not in $SOTTOVOCE_DATA, so complaints are left out\n")
        else:
            rows += _case(case, texts * max(1, -int(-size_mb // _megabytes(texts))))
    return rows


def _case(case: str, texts: list[str]) -> list[BenchRow]:
    array = pa.chunked_array([texts]).combine_chunks()
    ours, peers = count([array]), _peers(texts)
    for peer, (work, same) in peers.items():
        if not same(ours, work()):
            raise CheckFailedError(f"{peer} counts other words than ours in the case '{case}'.")
    works: dict[str, Work] = {ONE: partial(count, [array], threads=1)}
    if available_cores() > 1:
        works[TWO] = partial(count, [array], threads=2)
    works |= {peer: work for peer, (work, _) in peers.items()}
    best = best_times(works, rounds=REPEATS, seconds=TURNS_S)
    speeds = {name: _megabytes(texts) / seconds for name, seconds in best.items()}
    row = partial(bench_row, "tokenize")
    rows = [
        row(f"{case}, one thread", UNIT, speeds[ONE], peer, speeds.get(peer))
        for peer in (SKLEARN, PYTHON)
    ]
    if TWO in speeds:
        rows.append(row(f"{case}, two threads", UNIT, speeds[TWO], ONE, speeds[ONE]))
    return rows


def _megabytes(texts: list[str]) -> float:
    return sum(len(text.encode()) for text in texts) / 1e6


def _peers(texts: list[str]) -> dict[str, tuple[Work, Callable[[Counts, object], bool]]]:
    """Those that are installed: what each does, and whether its counts are ours."""
    peers = {SKLEARN: (partial(_sklearn, texts), _same_matrix)}
    if importlib.util.find_spec("sklearn") is None:
        peers = {}
    return {**peers, PYTHON: (partial(_python_re, texts), _same_totals)}


def _sklearn(texts: list[str]) -> tuple[sparse.csr_matrix, list[str]]:
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415 - a peer

    vectorizer = CountVectorizer()
    matrix = vectorizer.fit_transform(texts)
    return matrix, vectorizer.get_feature_names_out().tolist()


def _python_re(texts: list[str]) -> Counter[str]:
    totals: Counter[str] = Counter()
    for text in texts:
        totals.update(_WORD.findall(text.lower()))
    return totals


def _same_matrix(ours: Counts, theirs: object) -> bool:
    matrix, terms = cast("tuple[sparse.csr_matrix, list[str]]", theirs)
    matrix.sort_indices()
    return tuple(terms) == ours.vocabulary.terms and all(
        np.array_equal(mine, other)
        for mine, other in (
            (ours.matrix.data, matrix.data),
            (ours.matrix.indices, matrix.indices),
            (ours.matrix.indptr, matrix.indptr),
        )
    )


def _same_totals(ours: Counts, theirs: object) -> bool:
    totals = ours.matrix.sum(axis=0).tolist()
    return dict(zip(ours.vocabulary.terms, totals, strict=True)) == theirs


def _complaints() -> list[str] | None:
    try:
        path = data_file("cfpb.jsonl")
    except DataAbsentError:
        return None
    texts: list[str] = open_documents(path).read_all()["text"].to_pylist()
    return texts


def _short_posts() -> list[str]:
    parameters = SimulationParameters(users=_SHORT_POSTS_USERS, background_documents=1)
    texts: list[str] = simulate(parameters).posts["text"].to_pylist()
    return texts
