"""Assessing a community: ours against a straightforward implementation with gensim and pandas.

The whole path from a Parquet file of short posts to ranks by ``lda-dt``, in a space of 200 latent
topics trained on the simulated community's background. The peer is written as one would in a
notebook: a data frame of posts, gensim's inference, group-bys. Both have the same phi and alpha,
but not the same inference: the peer's is gensim's variational one. So what is compared is checked
twice: pandas, given our strengths of posts, must rank every user exactly as we do; and the case
says how many of the users in our top 10% are in the peer's as well. The peer is timed on the first
posts, since its cost per post is constant, and says so.

Then what further threads bring (``_assess_cores``), and ENT and DIFF-PRIV for a million users and
20 words, from incidence to ranks, against numpy word by word.
"""

import importlib.util
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.assess import Ranking, score
from sottovoce.assess.measures.word_use import differential_privacy_risk, entropy_risk
from sottovoce.assess.ranking import susceptibility
from sottovoce.assess.state.words import WordUse
from sottovoce.compiled import available_cores
from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate
from sottovoce.errors import CheckFailedError
from sottovoce.topics import Catalogue, LdaParameters, Topic, WordChoice, train_lda
from sottovoce.topics.lda.model import LdaModel
from sottovoce_lab.bench._assess_cores import core_rows
from sottovoce_lab.bench.rows import SECONDS, BenchRow, Work, bench_row, best_times, compared_row

PEER_NAME = "gensim + pandas"
K, M = 0.3, 3
_CHUNK = 2000

Ranks = dict[tuple[str, str], int]
"""The rank of each user by topic."""


class GensimPeer:
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


POSTS, POSTS_BESIDE_PEERS = 1_000_000, 100_000
PEER_POSTS = 4_000
USERS, WORDS = 1_000_000, 20
TOPICS, ITERATIONS = 200, 100
MEASURE = "lda-dt"
_POSTS_PER_USER = 55
_SHARE_OF_USERS_WITH_A_WORD = 0.05
_ONE_THREAD = "ours, 1 thread"


@dataclass(frozen=True)
class Material:
    """A community on disk, and what an adversary knows."""

    posts: Path
    table: pa.Table
    model: LdaModel
    catalogue: Catalogue


def bench_assess(
    posts: int = POSTS,
    *,
    users: int = USERS,
    peer_posts: int = PEER_POSTS,
    topics: int = TOPICS,
    seconds: float = SECONDS,
) -> list[BenchRow]:
    """The whole path on about ``posts`` posts, then the word measures for ``users`` users.

    Beside peers there are at most `POSTS_BESIDE_PEERS`, as theirs must be checked one by one.
    """
    with tempfile.TemporaryDirectory() as folder:
        material = prepare(Path(folder), min(posts, POSTS_BESIDE_PEERS), topics)
        rows = _path_rows(material, peer_posts, seconds)
    cores = core_rows(posts, topics=topics, seconds=seconds)
    return [*rows, *cores, *_word_rows(users, seconds)]


def prepare(folder: Path, posts: int, topics: int) -> Material:
    """Simulate a community, train on its background, and match its catalogue."""
    users = max(50, posts // _POSTS_PER_USER)
    community = simulate(SimulationParameters(users=users, weeks=26))
    table = community.posts.slice(0, posts)
    pq.write_table(table, folder / "posts.parquet")
    model = train_lda(
        community.background["text"].to_pylist(),
        LdaParameters(topics=topics, iterations=ITERATIONS),
        words=WordChoice(min_texts=2),
    )
    return Material(folder / "posts.parquet", table, model, _match_topics(community, model))


def _match_topics(community: SimulatedCommunity, model: LdaModel) -> Catalogue:
    """Each topic stands for the latent dimension in which its words are likeliest."""
    column = model.vocabulary.column
    found = []
    for topic in community.topics:
        known = [column[word] for word in topic.words if word in column]
        best = int(model.phi[known].sum(axis=0).argmax())
        found.append(
            Topic(topic.name, topic.words, topic.domain, topic.sensitive, dimensions=(best,))
        )
    return Catalogue(tuple(found), model.fingerprint)


def ours(material: Material, *, threads: int | None = None) -> Ranking:
    """From the file to ranks."""
    return score(
        material.posts, material.model, material.catalogue, measures=(MEASURE,), threads=threads
    )


def _path_rows(material: Material, peer_posts: int, seconds: float) -> list[BenchRow]:
    posts = material.table.num_rows
    ranking = ours(material)
    works: dict[str, Work] = {
        "ours": partial(ours, material),
        _ONE_THREAD: partial(ours, material, threads=1),
    }
    shared = ""
    part = min(posts, peer_posts)
    if has_peers():
        check_pandas_ranks(material, ranking)
        fewer = _first_posts(material, part)
        peer_work = GensimPeer(material.model, material.catalogue)
        works["peer"] = partial(ranks, fewer.posts, peer_work)
        shared = f", {overlap(fewer, peer_work):.0%} of our top 10% in the peer's"
    best = best_times(works, seconds=seconds)
    speed = {name: (part if name == "peer" else posts) / time for name, time in best.items()}
    case = f"{MEASURE}, {posts:,} posts, {material.model.dimensions} topics"
    peer = f"{PEER_NAME}, timed on {part:,} posts"
    row = partial(bench_row, "assess")
    return [
        row(f"{case}, 1 thread{shared}", "posts/s", speed[_ONE_THREAD], peer, speed.get("peer")),
        row(f"{case}, all cores{shared}", "posts/s", speed["ours"], peer, speed.get("peer")),
        *(
            [row(f"{case}, all cores", "posts/s", speed["ours"], _ONE_THREAD, speed[_ONE_THREAD])]
            if available_cores() > 1
            else []
        ),
    ]


def _first_posts(material: Material, posts: int) -> Material:
    path = material.posts.with_name("part.parquet")
    table = material.table.slice(0, posts)
    pq.write_table(table, path)
    return replace(material, posts=path, table=table)


def check_pandas_ranks(material: Material, ranking: Ranking) -> None:
    """Refuse to compare unless pandas, given our strengths, ranks everybody as we do."""
    scorer = material.model.scorer(material.catalogue)
    texts = [chunk for chunk in material.table["text"].chunks if len(chunk)]
    strengths = np.vstack(
        [
            scorer.strengths(counts)
            for counts in count_batches(texts, scorer.vocabulary, scorer.rules)
        ]
    )
    theirs = _ranks(material.table.to_pandas(), strengths, material.catalogue)
    if _by_user(ranking.table) != theirs:
        raise CheckFailedError("pandas ranks other users than ours, given the same strengths.")


def overlap(material: Material, peer: GensimPeer) -> float:
    """The share of users in our top 10% (by rank) who are in the peer's, over all topics."""
    mine = _by_user(ours(material).table)
    theirs = ranks(material.posts, peer)
    limit = len({user for _, user in mine}) / 10
    first = {key for key, rank in mine.items() if rank <= limit}
    return sum(theirs[key] <= limit for key in first) / max(1, len(first))


def _by_user(table: pa.Table) -> dict[tuple[str, str], int]:
    names = zip(table["topic"].to_pylist(), table["user"].to_pylist(), strict=True)
    return dict(zip(names, table["rank"].to_pylist(), strict=True))


def _word_rows(users: int, seconds: float) -> list[BenchRow]:
    generator = np.random.default_rng(0)
    incidence = sparse.csr_array(
        (generator.random((users, WORDS)) < _SHARE_OF_USERS_WITH_A_WORD).astype(np.int32)
    )
    rows = []
    for name, risk, peer in (
        ("ent", entropy_risk, dense_entropy),
        ("diff-priv", differential_privacy_risk, dense_differential_privacy),
    ):
        np.testing.assert_allclose(
            risk(WordUse.of_incidence(incidence), np.arange(WORDS)), peer(incidence), rtol=1e-3
        )
        rows.append(
            compared_row(
                "assess",
                f"{name}, {users:,} users x {WORDS} words, incidence to ranks",
                partial(_word_ranks, risk, incidence),
                "numpy, word by word, scores only",
                partial(peer, incidence),
                seconds=seconds,
            )
        )
    return rows


def _word_ranks(
    risk: Callable[[WordUse, NDArray[np.int64]], NDArray[np.float64]], incidence: sparse.csr_array
) -> NDArray[np.int64]:
    return susceptibility(risk(WordUse.of_incidence(incidence), np.arange(incidence.shape[1])))


def has_peers() -> bool:
    """Whether both libraries are there."""
    return all(importlib.util.find_spec(name) is not None for name in ("gensim", "pandas"))


def ranks(path: Path, peer: GensimPeer) -> Ranks:
    """From a Parquet file of posts to ranks by ``lda-dt``."""
    import pandas as pd  # noqa: PLC0415 - a peer

    posts, catalogue = pd.read_parquet(path), peer.catalogue
    theta = _thetas(posts["text"], peer)
    dimensions = [topic.dimensions[0] for topic in catalogue]
    norms = np.linalg.norm(theta, axis=1, keepdims=True)
    strengths = theta[:, dimensions] / np.where(norms > 0, norms, 1.0)
    return _ranks(posts, strengths, catalogue)


def _thetas(texts: Any, peer: GensimPeer) -> NDArray[np.float64]:  # noqa: ANN401 - pandas has no types
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
