"""The bloggers: their halves, their timelines and labels, and what an adversary knows of them.

Users are split once and for all into those a measure is developed on and those it is tested on. The
posts of one half are read with the topics that each post or user has as labels. The adversary knows
four spaces, learnt from other people's texts.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce.corpus.schema import POSTS
from sottovoce.errors import InputError
from sottovoce.files import cause_of
from sottovoce.loop.adversary import Training
from sottovoce.parsing import check_choice
from sottovoce.topics import (
    Catalogue,
    LdaParameters,
    SkipGramParameters,
    Space,
    load_model,
    train_lda,
    train_skip_gram,
    train_voice,
)
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.match import match_model
from sottovoce_lab._data import data_file

Half = Literal["development", "test", "all"]
HALVES: tuple[Half, ...] = get_args(Half)
SALT = "sottovoce assess-blogs 1:"


def half_of(user: str) -> Half:
    """By the parity of the last byte of SHA-256 over the salt and the user's id."""
    even = hashlib.sha256((SALT + user).encode()).digest()[-1] % 2 == 0
    return "development" if even else "test"


def checked_half(name: str) -> Half:
    """The half called ``name``."""
    check_choice("half", name, HALVES)
    return cast("Half", name)


POST_LABELS = "label_post"
USER_LABELS = "label"
GENDER = "gender"
SEPARATOR = ";"


@dataclass(frozen=True, eq=False)
class Timelines:
    """Posts by user and then time, a row each."""

    posts: pa.Table
    """user, time and text, as all readers give them."""
    users: tuple[str, ...]
    """In the order of their ids."""
    user: NDArray[np.int64]
    """The place of each post's writer among ``users``."""
    day: NDArray[np.int64]
    """Days since 1970."""
    words: NDArray[np.int64]
    """The length of each post: runs between spaces."""
    post_labels: tuple[frozenset[str], ...]
    user_labels: tuple[frozenset[str], ...]
    women: NDArray[np.bool_] | None
    """None where nothing is said of gender."""


def read_timelines(path: Path, half: Half, labels_column: str = POST_LABELS) -> Timelines:
    """Read the posts of one half; of the other half nothing but the ids is read.

    ``labels_column`` holds the topics of each post, separated by semicolons. A user has the topics
    of the column ``label`` where the posts' own are in ``label_post``, else those of their posts.
    """
    columns = _columns(path, labels_column)
    table = _rows_of_half(path, half, columns).sort_by(
        [("user", "ascending"), ("time", "ascending")]
    )
    if not table.num_rows:
        raise InputError(f"{path} must hold posts of the {half} half, got none.")
    names, user = np.unique(np.array(table["user"].to_pylist(), object), return_inverse=True)
    post_labels = tuple(map(_topics, table[labels_column].to_pylist()))
    return Timelines(
        posts=_posts(table),
        users=tuple(names.tolist()),
        user=user.astype(np.int64),
        day=table["time"].cast(pa.date32()).cast(pa.int32()).to_numpy().astype(np.int64),
        words=pc.count_substring_regex(table["text"], r"\S+").to_numpy().astype(np.int64),
        post_labels=post_labels,
        user_labels=_user_labels(table, user, len(names), labels_column, post_labels),
        women=_women(table, user, len(names)) if GENDER in columns else None,
    )


def _columns(path: Path, labels_column: str) -> list[str]:
    try:
        present = pq.read_schema(path).names
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"cannot read {path} as Parquet: {cause_of(error)}.") from None
    needed = ["user", "time", "text", labels_column]
    if missing := [name for name in needed if name not in present]:
        raise InputError(f"{path} must have the columns {', '.join(missing)}.")
    wanted = [USER_LABELS, GENDER] if labels_column == POST_LABELS else [GENDER]
    return [*needed, *(name for name in wanted if name in present)]


def _rows_of_half(path: Path, half: Half, columns: list[str]) -> pa.Table:
    if half == "all":
        return pq.read_table(path, columns=columns)
    names = pc.unique(pq.read_table(path, columns=["user"])["user"]).to_pylist()
    own = pa.array([name for name in names if half_of(name) == half], pa.large_string())
    return pq.read_table(path, columns=columns, filters=pc.field("user").isin(own))


def _posts(table: pa.Table) -> pa.Table:
    columns = [table[name].cast(kind) for name, kind in zip(POSTS.names, POSTS.types, strict=True)]
    return pa.table(columns, schema=POSTS)


def _topics(written: str | None) -> frozenset[str]:
    return frozenset(filter(None, (written or "").split(SEPARATOR)))


def _user_labels(
    table: pa.Table,
    user: NDArray[np.int64],
    users: int,
    labels_column: str,
    post_labels: tuple[frozenset[str], ...],
) -> tuple[frozenset[str], ...]:
    of_post = post_labels
    if labels_column == POST_LABELS and USER_LABELS in table.column_names:
        of_post = tuple(map(_topics, table[USER_LABELS].to_pylist()))
    gathered: list[set[str]] = [set() for _ in range(users)]
    for place, topics in zip(user.tolist(), of_post, strict=True):
        gathered[place] |= topics
    return tuple(map(frozenset, gathered))


def _women(table: pa.Table, user: NDArray[np.int64], users: int) -> NDArray[np.bool_]:
    women = np.zeros(users, np.bool_)
    women[user[pc.equal(table[GENDER], "female").to_numpy(zero_copy_only=False).astype(bool)]] = (
        True
    )
    return women


OWN_KIND = "blogs-background.parquet"
OTHER_KINDS = "background.parquet"
TOPICS_FILE = Path(__file__).with_name("topics.toml")
NEEDED = ("w2v", "lda", "voice")
FULL = Training(topics=200, iterations=200, dimensions=200, epochs=5)
QUICK = Training(topics=40, iterations=20, dimensions=30, epochs=1)
QUICK_TEXTS = 15_000
SEED = 1


@dataclass(frozen=True, eq=False)
class BlogKnowledge:
    """The catalogue and the models, with the topics that each model has."""

    catalogue: Catalogue
    spaces: Mapping[str, Space]
    catalogues: Mapping[str, Catalogue]
    """By space; the latent model's lacks the topics that it does not know."""
    notes: tuple[str, ...]


def blog_knowledge(
    topics: Path | None, models: Sequence[Path], *, quick: bool = False
) -> BlogKnowledge:
    """Load the given models, or train all, and find the topics in them; voice is always there."""
    catalogue = Catalogue.load(topics or TOPICS_FILE)
    if not catalogue.sensitive:
        raise InputError("the catalogue must have at least 1 sensitive topic, got none.")
    spaces: dict[str, Space] = {}
    for model in map(load_model, models):
        spaces[model.name] = model
    for name in ("voice",) if models else NEEDED:
        if name not in spaces:
            spaces[name] = _train_space(name, quick=quick)
    catalogues = dict.fromkeys(spaces, catalogue)
    notes: tuple[str, ...] = ()
    if "lda" in spaces:
        catalogues["lda"], notes = _in_latent_model(catalogue, spaces["lda"])
    return BlogKnowledge(catalogue, spaces, catalogues, notes)


def _train_space(name: str, *, quick: bool) -> Space:
    size = QUICK if quick else FULL
    texts = list(_texts([OWN_KIND] if name == "voice" else [OWN_KIND, OTHER_KINDS], quick=quick))
    if name == "voice":
        return train_voice(texts)
    if name == "lda":
        return train_lda(texts, LdaParameters(size.topics, size.iterations, seed=SEED, workers=1))
    vectors = SkipGramParameters(
        dimensions=size.dimensions, epochs=size.epochs, seed=SEED, workers=1
    )
    return train_skip_gram(texts, vectors)


def _texts(files: Sequence[str], *, quick: bool) -> Iterator[str]:
    for name in files:
        column = pq.read_table(data_file(name), columns=["text"])["text"]
        yield from (column.slice(0, QUICK_TEXTS) if quick else column).to_pylist()


def _in_latent_model(catalogue: Catalogue, model: Space) -> tuple[Catalogue, tuple[str, ...]]:
    """The topics found in the latent model by their words.

    A sensitive topic that nothing fits well is given the nearest dimension all the same, so that
    every measure ranks every topic; other topics are left out.
    """
    if not isinstance(model, LdaModel):
        raise InputError("the latent model must be an lda model.")
    matching = match_model(catalogue, model)
    nearest = {
        each.topic: (each.nearest,)
        for each in matching.unmatched
        if each.nearest is not None and catalogue.by_name[each.topic].sensitive
    }
    if nearest:
        matching = match_model(catalogue, model, chosen=nearest)
    notes = tuple(
        f"Nothing in the latent model fits the topic {name!r} well; its nearest dimension is used."
        for name in nearest
    )
    return matching.without_unmatched(), notes


LEAST_POSTS = 10
WOMEN_ONLY = frozenset({"pregnancy"})


@dataclass(frozen=True, eq=False)
class Selection:
    """The ranked users of one topic and the posts by which they may be ranked."""

    topic: str
    users: NDArray[np.int64]
    """Places in the timelines' users, ascending."""
    afflicted: NDArray[np.bool_]
    posts: NDArray[np.int64]
    """Rows of the timelines' posts, ascending."""
    writer: NDArray[np.int64]
    """The place of each post's writer among ``users``."""


def select(timelines: Timelines, topic: str, least: int = LEAST_POSTS) -> Selection:
    """Leave out the days on which a user reports the topic of themselves, and short timelines.

    The labels come from those days' posts: with them the test would be circular. For pregnancy
    only women are ranked, where the data say who is one.
    """
    kept = ~_on_label_days(timelines, topic)
    enough = np.bincount(timelines.user[kept], minlength=len(timelines.users)) >= least
    if topic in WOMEN_ONLY and timelines.women is not None:
        enough &= timelines.women
    users = np.flatnonzero(enough)
    afflicted = np.array([topic in timelines.user_labels[user] for user in users], np.bool_)
    if not 0 < afflicted.sum() < users.size:
        raise InputError(
            f"topic {topic!r} must have users with its label and users without it, each with at "
            f"least {least} posts left, got {int(afflicted.sum())} of {users.size}."
        )
    posts = np.flatnonzero(kept & enough[timelines.user])
    return Selection(topic, users, afflicted, posts, np.searchsorted(users, timelines.user[posts]))


def sample_posts(selection: Selection, count: int, seed: int) -> NDArray[np.int64]:
    """``count`` posts of every user at random: places in ``selection.posts``, ascending."""
    key = np.random.default_rng(seed).random(selection.posts.size)
    order = np.lexsort((key, selection.writer))
    writers = selection.writer[order]
    turn = np.arange(order.size) - np.searchsorted(writers, writers)
    return np.sort(order[turn < count])


def _on_label_days(timelines: Timelines, topic: str) -> NDArray[np.bool_]:
    labelled = np.array([topic in labels for labels in timelines.post_labels], np.bool_)
    days = timelines.user * (int(timelines.day.max()) + 1) + timelines.day
    return np.isin(days, days[labelled])
