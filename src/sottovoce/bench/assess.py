"""Assessing a community: ours against a straightforward implementation with gensim and pandas.

The whole path from a Parquet file of short posts to ranks by ``lda-dt``, in a space of 200 latent
topics trained on the simulated community's background. Both have the same phi and alpha, but not
the same inference: the peer's is gensim's variational one. So what is compared is checked twice:
pandas, given our strengths of posts, must rank every user exactly as we do; and the case says how
many of the users in our top 10% are in the peer's as well. The peer is timed on the first posts,
since its cost per post is constant, and says so.

Then ENT and DIFF-PRIV for a million users and 20 words, from incidence to ranks, against numpy
word by word.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.assess import Ranking, score
from sottovoce.assess.measures.differential_privacy import differential_privacy_risk
from sottovoce.assess.measures.entropy import entropy_risk
from sottovoce.assess.ranking import susceptibility
from sottovoce.assess.word_use import WordUse
from sottovoce.bench import assess_peer
from sottovoce.bench.rows import SECONDS, BenchRow, Work, bench_row, best_times
from sottovoce.compiled import available_cores
from sottovoce.corpus.counting import count_batches
from sottovoce.corpus.simulate import Community, SimulationParameters, simulate
from sottovoce.errors import CheckFailedError
from sottovoce.topics import Catalogue, LdaModel, LdaParameters, Topic, WordChoice, train_lda

POSTS = 100_000
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
    """The whole path on about ``posts`` posts, then the word measures for ``users`` users."""
    with tempfile.TemporaryDirectory() as folder:
        material = prepare(Path(folder), posts, topics)
        rows = _path_rows(material, peer_posts, seconds)
    return [*rows, *_word_rows(users, seconds)]


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
    return Material(folder / "posts.parquet", table, model, _matched(community, model))


def _matched(community: Community, model: LdaModel) -> Catalogue:
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
    if assess_peer.installed():
        check_pandas_ranks(material, ranking)
        fewer = _first_posts(material, part)
        peer_work = assess_peer.Peer(material.model, material.catalogue)
        works["peer"] = partial(assess_peer.ranks, fewer.posts, peer_work)
        shared = f", {overlap(fewer, peer_work):.0%} of our top 10% in the peer's"
    best = best_times(works, seconds=seconds)
    speed = {name: (part if name == "peer" else posts) / time for name, time in best.items()}
    case = f"{MEASURE}, {posts:,} posts, {material.model.dimensions} topics"
    peer = f"{assess_peer.NAME}, timed on {part:,} posts"
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
    theirs = assess_peer.ranks_of_strengths(material.table, strengths, material.catalogue)
    if _by_user(ranking.table) != theirs:
        raise CheckFailedError("pandas ranks other users than ours, given the same strengths.")


def overlap(material: Material, peer: assess_peer.Peer) -> float:
    """The share of users in our top 10% (by rank) who are in the peer's, over all topics."""
    mine = _by_user(ours(material).table)
    theirs = assess_peer.ranks(material.posts, peer)
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
        ("ent", entropy_risk, assess_peer.dense_entropy),
        ("diff-priv", differential_privacy_risk, assess_peer.dense_differential_privacy),
    ):
        works: dict[str, Work] = {
            "ours": partial(_word_ranks, risk, incidence),
            "peer": partial(peer, incidence),
        }
        np.testing.assert_allclose(
            risk(WordUse.of_incidence(incidence), np.arange(WORDS)), peer(incidence), rtol=1e-3
        )
        best = best_times(works, seconds=seconds)
        case = f"{name}, {users:,} users x {WORDS} words, incidence to ranks"
        rows.append(
            bench_row(
                "assess",
                case,
                "s",
                best["ours"],
                "numpy, word by word, scores only",
                best["peer"],
                less_is_better=True,
            )
        )
    return rows


def _word_ranks(
    risk: Callable[[WordUse, NDArray[np.int64]], NDArray[np.float64]], incidence: sparse.csr_array
) -> NDArray[np.int64]:
    return susceptibility(risk(WordUse.of_incidence(incidence), np.arange(incidence.shape[1])))
