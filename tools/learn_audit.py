"""Run our attacks on opened sums of the data sets, and print a line of JSON for each.

`python tools/learn_audit.py before` is what a five-fold training opened, `told` what X'X tells at
m/d of 1.5 and 2, `after` what trainings open now, of which one is train,DATA,DOCUMENTS,LIST,KNOWN,
SECONDS,MODE (LIST: all or content words; MODE: open, rados, hidden or paper). `cost` is what the
limit costs on complaints, one of it accuracy,DATA,DOCUMENTS,WORDS,PEERS. Anything else is an
opening without a limit: DATA,DOCUMENTS,WORDS,KNOWN,SECONDS. What was recorded is
docs/research/learn-audit.json.
"""

import json
import os
import re
import resource
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow.parquet as pq
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import LeakError
from sottovoce.learn import support, train
from sottovoce.learn.attacks.audit import DocumentsRead, audit_openings, audit_training
from sottovoce.learn.attacks.opening import OpenedSums
from sottovoce.learn.documents import Documents
from sottovoce.learn.features import Features, TextRecipe, frequent_words

DATA = Path(os.environ.get("SOTTOVOCE_DATA", Path(__file__).parents[2] / "shared" / "data"))
LISTED, FEWEST, DRAWN = 1000, 5, 12_000
TOLD = ("complaints,600,400,0,60", "blogs,225,150,0,60", "blogs,300,150,0,60", "sms,400,200,0,60")
AFTER = tuple(
    f"train,{name},{documents},{kind},{known},6,open"
    for documents in (300, 1000, 4000)
    for name in ("complaints", "sms", "blogs")
    for kind in ("all", "content")
    for known in (0, 0.5)
)
COST = tuple(
    f"accuracy,complaints,{sizes},{peers}"
    for sizes in ("1000,100", "1000,250", "3000,100", "3000,250")
    for peers in (3, 5, 10)
)
MODES: dict[str, dict[str, Any]] = {
    "open": {},
    "rados": {"statistics": "rados"},
    "hidden": {"mode": "hidden"},
}
_WORD = re.compile("[a-z]{3,}")


def read_texts(name: str) -> tuple[list[str], list[str]]:
    """Texts and labels of a data set."""
    if name == "complaints":
        with (DATA / "cfpb.jsonl").open(encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        return ([row["text"] for row in rows if row["raw"]],
                [row["product"] for row in rows if row["raw"]])  # fmt: skip
    if name == "sms":
        lines = (DATA / "sms.tsv").read_text(encoding="utf-8").rstrip("\n").split("\n")
        labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
        return list(texts), list(labels)
    texts = pq.read_table(DATA / "blogs-background.parquet").column("text").to_pylist()
    return texts, ["post"] * len(texts)


def drawn_rows(name: str, documents: int, words: int, seed: int = 1) -> tuple[Floats, Integers]:
    """Documents over the most frequent words, and their labels; by the rules of the pinned runs."""
    texts, names = read_texts(name)
    used = [
        [w for w in _WORD.findall(text.lower()) if w not in ENGLISH_STOP_WORDS] for text in texts
    ]
    often, in_texts = (
        Counter(w for own in used for w in own),
        Counter(w for own in used for w in {*own}),
    )
    listed = [w for w, _ in often.most_common() if in_texts[w] >= FEWEST][:LISTED]
    places = {word: at for at, word in enumerate(listed)}
    rows = np.zeros((len(texts), LISTED), bool)
    for at, own in enumerate(used):
        rows[at, [places[word] for word in own if word in places]] = True
    labels = np.unique(names, return_inverse=True)[1]
    some = rows.any(axis=1)
    rows, labels = rows[some], labels[some]
    order = np.random.default_rng(0).permutation(len(rows))[:DRAWN]
    rows, labels = rows[order], labels[order]
    if name != "sms":
        long = rows.sum(axis=1) >= FEWEST
        rows, labels = rows[long], labels[long]
    order = np.random.default_rng(seed).permutation(len(rows))[:documents]
    return rows[order, :words].astype(np.float64), labels[order]


def cell(asked: str) -> dict[str, Any]:
    """One opening of a data set's documents."""
    name, documents, words, known, seconds = asked.split(",")
    rows, labels = drawn_rows(name, int(documents), int(words))
    columns = {str(at): column for at, column in enumerate(rows.T)}
    opening = OpenedSums.from_documents(name, rows, labels)
    (found,) = audit_openings(
        [[opening]], columns, labels, known=float(known), seconds=float(seconds)
    )
    return {"data": name, "documents": len(rows), "known": float(known), **numbers(found)}


def training_before() -> Iterator[dict[str, Any]]:
    """What was opened of 720 complaints about four products, by four peers in five folds.

    Of 1,000 words those that five documents of each fold have beside any peer's.
    """
    texts, labels = read_texts("complaints")
    order = np.random.default_rng(1).permutation(len(texts)).tolist()
    common = [label for label, _ in Counter(labels).most_common(4)]
    chosen = [[at for at in order if labels[at] == label][:180] for label in common]
    places = sorted(at for own in chosen for at in own)
    used = tuple(texts[at] for at in places)
    x = Features(TextRecipe("given", frequent_words(used, LISTED))).rows(used)
    y = np.unique([labels[at] for at in places], return_inverse=True)[1]
    uses = np.array([[x[k::4][fold::5].sum(axis=0) for k in range(4)] for fold in range(5)])
    x = x[:, (uses.sum(axis=1) - uses.max(axis=1) >= FEWEST).all(axis=0)]
    columns = {str(at): column for at, column in enumerate(x.T)}
    for fold in range(5):
        inside = np.concatenate([np.arange(720)[k::4][fold::5] for k in range(4)])
        part = OpenedSums.from_documents(f"part {fold + 1} of 5", x[inside], y[inside])
        (found,) = audit_openings([[replace(part, members=inside)]], columns, y)
        yield {"data": "complaints", "opened": found.opening, **numbers(found)}


def openings_of(name: str, documents: int) -> Documents:
    """Texts of the four most common labels, of blogs their first sixty words."""
    if name == "blogs":
        table = pq.read_table(DATA / "blogs.parquet", columns=["text", "gender"])
        texts, labels = (column.to_pylist() for column in table.columns)
        texts = [" ".join(text.split()[:60]) for text in texts]
    else:
        texts, labels = read_texts(name)
    common = {label for label, _ in Counter(labels).most_common(4)}
    among = [at for at, label in enumerate(labels) if label in common]
    drawn = np.random.default_rng(1).permutation(among)[:documents].tolist()
    return Documents.from_texts([texts[at] for at in drawn], [str(labels[at]) for at in drawn])


def training_after(asked: str) -> Iterator[dict[str, Any]]:
    """A training by the product's own limit, with four peers."""
    _, name, size, kind, known, seconds, mode = asked.split(",")
    documents = openings_of(name, int(size))
    left_out = ENGLISH_STOP_WORDS if kind == "content" else frozenset()
    listed = [word for word in frequent_words(documents.texts, LISTED) if word not in left_out]
    cell = {"data": name, "documents": len(documents), "list": kind, "known": float(known)}
    try:
        found = audit_training(
            documents, words=listed, known=float(known), seconds=float(seconds),
            **MODES[mode],
        )  # fmt: skip
    except LeakError:
        yield {**cell, "mode": mode, "refused": True}
        return
    for each in found.readings:
        yield {**cell, "mode": mode, **numbers(each)}


def accuracy(asked: str) -> Iterator[dict[str, Any]]:
    """On what was not trained on, with and without the limit; means of three draws."""
    _, name, *sizes = asked.split(",")
    documents, words, peers = map(int, sizes)
    texts, labels = (np.array(each, object) for each in read_texts(name))
    right, opened = [], []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(texts))
        inside, rest = order[:documents], order[documents:]
        places = [inside[k::peers] for k in range(peers)]
        holders = [(texts[own].tolist(), labels[own]) for own in places]
        used = Counter(
            word
            for text in texts[inside]
            for word in {*_WORD.findall(text.lower())} - ENGLISH_STOP_WORDS
        )
        listed = [word for word, _ in used.most_common(words)]
        for share in (support.MOST_OPENED_SHARE, np.inf):
            with mock.patch.object(support, "MOST_OPENED_SHARE", share):
                trained = train(holders, words=listed)
            right.append((trained.predict(texts[rest].tolist()) == labels[rest]).mean())
            opened.append(len(trained.kept_features_))
    limited, unlimited = (round(float(np.mean(right[at::2])), 3) for at in (0, 1))
    cell = {"data": name, "documents": documents, "peers": peers, "wanted": words}
    yield {**cell, "opened": opened[::2], "accuracy": limited, "without limit": unlimited}


def numbers(found: DocumentsRead) -> dict[str, Any]:
    """What a record says of a reading."""
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {
        "left": found.documents,
        "words": found.words,
        "rho": round(float(found.rho), 2) if np.isfinite(found.rho) else None,
        "off": round(found.off) if np.isfinite(found.off) else None,
        "read": {length: list(counts) for length, counts in found.read.items()},
        "seconds": round(found.seconds, 1),
        "MiB": memory,
    }


def main(asked: Sequence[str]) -> None:
    """Run what is asked for."""
    for each in asked:
        for one in {"told": TOLD, "after": AFTER, "cost": COST}.get(each, (each,)):
            if one == "before":
                lines = training_before()
            else:
                ways = {"train": training_after, "accuracy": accuracy}
                lines = ways.get(one.partition(",")[0], lambda one: iter([cell(one)]))(one)
            for line in lines:
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
