"""The straightforward implementation that ``bench assess`` compares ours with: gensim and pandas.

Written as one would in a notebook: a data frame of posts, gensim's inference, group-bys.
"""

import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.topics import Catalogue, LdaModel

NAME = "gensim + pandas"
K, M = 0.3, 3
_CHUNK = 2000

Ranks = dict[tuple[str, str], int]
"""The rank of each user by topic."""


def installed() -> bool:
    """Whether both libraries are there."""
    return all(importlib.util.find_spec(name) is not None for name in ("gensim", "pandas"))


class Peer:
    """Our phi and alpha in gensim's hands, and a catalogue."""

    def __init__(self, model: LdaModel, catalogue: Catalogue) -> None:
        from gensim.corpora import Dictionary  # noqa: PLC0415 - a peer
        from gensim.models import LdaModel as GensimModel  # noqa: PLC0415 - a peer

        self.catalogue = catalogue
        self.word = rf"\w{{{model.rules.shortest},}}"
        # What is not in the vocabulary, stop words too, is not in the dictionary.
        self.dictionary = Dictionary()
        self.dictionary.token2id = dict(model.vocabulary.column)
        self.lda = GensimModel(
            num_topics=model.dimensions,
            id2word=dict(enumerate(model.vocabulary.terms)),
            alpha=model.alpha,
            random_state=0,
        )
        self.lda.expElogbeta = np.ascontiguousarray(model.phi.T, dtype=np.float32)


def ranks(path: Path, peer: Peer) -> Ranks:
    """From a Parquet file of posts to ranks by ``lda-dt``."""
    import pandas as pd  # noqa: PLC0415 - a peer

    posts, catalogue = pd.read_parquet(path), peer.catalogue
    theta = _thetas(posts["text"], peer)
    dimensions = [topic.dimensions[0] for topic in catalogue]
    norms = np.linalg.norm(theta, axis=1, keepdims=True)
    strengths = theta[:, dimensions] / np.where(norms > 0, norms, 1.0)
    return _ranks(posts, strengths, catalogue)


def ranks_of_strengths(
    posts: pa.Table, strengths: NDArray[np.float64], catalogue: Catalogue
) -> Ranks:
    """The pandas part alone, given the strengths of posts."""
    return _ranks(posts.to_pandas(), strengths, catalogue)


def dense_entropy(incidence: sparse.csr_array) -> NDArray[np.float64]:
    """Definition 1, word by word over all users."""
    used, users = incidence.toarray() > 0, incidence.shape[0]
    total = np.zeros(users)
    for word in used.T:
        local, overall = (word.sum() - word) / (users - 1), word.mean()
        for p, q in ((local, overall), (1 - local, 1 - overall)):
            total += np.where(p > 0, p * np.log2(np.where(p > 0, p, 1) / q), 0.0)
    mean: NDArray[np.float64] = total / used.shape[1]
    return mean


def dense_differential_privacy(incidence: sparse.csr_array) -> NDArray[np.float64]:
    """Definition 2, word by word over all users."""
    used, users = incidence.toarray() > 0, incidence.shape[0]
    largest = np.zeros(users)
    for word in used.T:
        local, overall = (word.sum() - word) / (users - 1), word.mean()
        largest = np.maximum(largest, np.abs(np.log2(local / overall)))
    return largest


def _thetas(texts: Any, peer: Peer) -> NDArray[np.float64]:  # noqa: ANN401 - pandas has no types
    words = texts.str.lower().str.findall(peer.word)
    bags = [peer.dictionary.doc2bow(post) for post in words]
    parts = [peer.lda.inference(bags[i : i + _CHUNK])[0] for i in range(0, len(bags), _CHUNK)]
    gamma = np.vstack(parts).astype(np.float64)
    theta: NDArray[np.float64] = gamma / gamma.sum(axis=1, keepdims=True)
    # As in ours: the prior alone is no evidence.
    theta[[not bag for bag in bags]] = 0.0
    return theta


def _ranks(posts: Any, strengths: NDArray[np.float64], catalogue: Catalogue) -> Ranks:  # noqa: ANN401 - pandas has no types
    import pandas as pd  # noqa: PLC0415 - a peer

    frame = pd.DataFrame(strengths, columns=list(catalogue.names))
    frame["user"] = posts["user"].to_numpy()
    frame["week"] = posts["time"].dt.tz_localize(None).dt.to_period("W")
    strongest = frame.drop(columns="week").groupby("user").max()
    weekly = frame.groupby(["user", "week"]).max()
    found: Ranks = {}
    for topic in catalogue.sensitive:
        lasting = weekly[topic.name].groupby("user").apply(lambda best: best.nlargest(M).sum() / M)
        others = [each.name for each in catalogue.domain_of(topic) if each.name != topic.name]
        place = math.ceil(round(K * len(others), 9))
        broad = np.sort(strongest[others].to_numpy(), axis=1)[:, -place] if others else 0.0
        rank = (lasting - broad).rank(method="min", ascending=False).astype(int)
        found |= {(topic.name, user): int(each) for user, each in rank.items()}
    return found
