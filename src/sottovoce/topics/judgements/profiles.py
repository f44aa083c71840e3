"""Sheets of people's profiles for judges: R-Susceptibility, section 5.1.3.

A sheet holds what people wrote. It is readable by its owner only, and tells users by random codes;
the key that undoes them stays in a file of its own.
"""

import json
import math
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from sottovoce.corpus.read.corpus import Corpus
from sottovoce.corpus.schema import TRUTH
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import cause_of, whole_file
from sottovoce.parsing import parse_json
from sottovoce.topics.judgements.agreement import MAJORITY
from sottovoce.topics.judgements.votes import (
    MOST_JUDGES,
    PROFILE_JUDGES,
    PROFILE_QUESTION,
    Vote,
    vote_counts,
)

PROFILE_COLUMNS = (
    "judge",
    "row",
    "item",
    "part",
    "parts",
    "topic",
    "question",
    "posts",
    "sensitive",
)
PROFILE_PLATFORM_COLUMNS = ("item", "part", "parts", "topic", "question", "posts")
# A cell of a spreadsheet holds 32,767 characters; longer profiles go on in the next row.
MOST_CHARACTERS = 30_000
_KEY_FORMAT = "sottovoce-profile-key-1"


@dataclass(frozen=True)
class Profile:
    """One user to be judged on one topic, and the code that stands for both on the sheet."""

    item: str
    user: str
    topic: str


def coded_profiles(pairs: Iterable[tuple[str, str]]) -> list[Profile]:
    """Give each (user, topic) a code that tells neither; another one each time."""
    unique = list(dict.fromkeys(pairs))
    if not unique:
        raise ParameterError("there must be at least 1 profile to judge, got none.")
    return [Profile(f"p-{secrets.token_hex(8)}", user, topic) for user, topic in unique]


def save_key(path: Path, profiles: Sequence[Profile]) -> None:
    """Write which code stands for whom, readable by the owner only."""
    key = {"format": _KEY_FORMAT, "profiles": [asdict(profile) for profile in profiles]}
    with whole_file(path, private=True) as temporary:
        temporary.write_text(json.dumps(key, indent=1) + "\n", encoding="utf-8")


def load_key(path: Path) -> list[Profile]:
    """Read what ``save_key`` wrote."""
    try:
        key = parse_json(path.read_text(encoding="utf-8"))
        profiles = [Profile(**entry) for entry in key["profiles"]]
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(f"cannot read the key {path}: {cause_of(error)}.") from None
    texts = all(isinstance(value, str) for each in profiles for value in asdict(each).values())
    if key.get("format") != _KEY_FORMAT or not texts:
        raise InputError(f"{path} is no key of profile sheets.")
    return profiles


def posts_in_order(posts: Corpus, users: Iterable[str]) -> dict[str, list[tuple[datetime, str]]]:
    """The posts of ``users``, oldest first; one pass, and only their texts are kept."""
    wanted = pa.array(sorted(set(users)), pa.string())
    found: dict[str, list[tuple[datetime, str]]] = {user: [] for user in wanted.to_pylist()}
    for batch in posts:
        theirs = batch.filter(pc.is_in(batch["user"], value_set=wanted))
        for row in theirs.to_pylist():
            found[row["user"]].append((row["time"], row["text"]))
    without = sum(not texts for texts in found.values())
    if without:
        raise InputError(f"{without} of {len(found)} users to be judged have no post in the file.")
    return {user: sorted(texts, key=lambda post: post[0]) for user, texts in found.items()}


def profile_sheet(
    profiles: Sequence[Profile],
    posts: dict[str, list[tuple[datetime, str]]],
    *,
    judges: int = PROFILE_JUDGES,
    seed: int = 0,
) -> list[dict[str, object]]:
    """One row per judge and profile, in an order of each judge's own; long ones take several.

    With 0 judges there is one row per profile, as a crowdsourcing platform takes them.
    """
    if not 0 <= judges <= MOST_JUDGES:
        raise ParameterError(f"judges must be 0 to {MOST_JUDGES}, got {judges}.")
    pieces = {profile.item: _pieces(posts[profile.user]) for profile in profiles}
    rows: list[dict[str, object]] = []
    for judge in range(1, max(judges, 1) + 1):
        order = np.random.default_rng((seed, judge)).permutation(len(profiles)).tolist()
        for row, place in enumerate(order, start=1):
            head = {"judge": f"judge-{judge}" if judges else "", "row": row}
            rows += [head | part for part in _parts(profiles[place], pieces[profiles[place].item])]
    return rows


def judged_truth(
    votes: Sequence[Vote], profiles: Sequence[Profile], *, threshold: float = MAJORITY
) -> pa.Table:
    """What is known of users by votes: R-Susceptibility, sections 5.1.3 and 5.1.5.

    ``grade`` is the mean vote; a user is sensitive when it is more than ``threshold``.
    """
    if not 0.0 <= threshold < 1.0:
        raise ParameterError(f"threshold must be >= 0 and < 1, got {threshold}.")
    known = {profile.item: profile for profile in profiles}
    unknown = [vote.place for vote in votes if vote.item not in known]
    if unknown:
        raise InputError(
            f"{len(unknown)} votes are on profiles that the key does not have; the first: "
            f"{unknown[0]}."
        )
    items, counts = vote_counts(votes)
    grades = counts[:, 0] / counts.sum(axis=1)
    judged = [known[item] for item in items]
    columns = [
        pa.array([profile.user for profile in judged], pa.string()),
        pa.array([profile.topic for profile in judged], pa.string()),
        pa.nulls(len(judged), pa.string()),
        pa.array(grades > threshold),
        pa.array(grades),
    ]
    return pa.table(columns, schema=TRUTH)


def sensitive_users(truth: pa.Table) -> list[dict[str, object]]:
    """Sensitive users out of all judged, by topic and in total: R-Susceptibility, Table 3."""
    topics: list[str] = pc.unique(truth["topic"]).to_pylist()
    rows = [
        _count_sensitive(truth.filter(pc.equal(truth["topic"], topic)), topic) for topic in topics
    ]
    return [*rows, _count_sensitive(truth, "TOTAL")]


def _count_sensitive(truth: pa.Table, topic: str) -> dict[str, object]:
    sensitive = pc.sum(truth["sensitive"]).as_py() or 0
    return {"topic": topic, "sensitive": sensitive, "judged": truth.num_rows}


def _parts(profile: Profile, pieces: list[str]) -> list[dict[str, object]]:
    return [
        {
            "item": profile.item,
            "part": part,
            "parts": len(pieces),
            "topic": profile.topic,
            "question": PROFILE_QUESTION.format(topic=profile.topic),
            "posts": piece,
            "sensitive": "" if part == len(pieces) else "(answer in the last part)",
        }
        for part, piece in enumerate(pieces, start=1)
    ]


def _pieces(posts: list[tuple[datetime, str]]) -> list[str]:
    """The posts with their days, cut so that each piece fits a cell and no word is lost."""
    text = "\n".join(f"[{time:%Y-%m-%d}] {post}" for time, post in posts)
    return [text[at : at + MOST_CHARACTERS] for at in range(0, len(text), MOST_CHARACTERS)]


HEALTH_FORUM_BASE = 100.0
QUERY_LOG_BASE = 1000.0
"""The paper's bases for its two skewed data sources."""


def sample_users(
    users: Sequence[str], scores: ArrayLike, count: int, *, base: float, seed: int
) -> NDArray[np.int64]:
    """Places of ``count`` users, drawn one by one with probability proportional to base^score.

    R-Susceptibility, section 5.1.2: users ordered by score, prefix sums of a^score, a uniform draw
    in the total; whoever is drawn is out of the next draws. Instead of ``count`` passes each user
    gets score ln(a) plus Gumbel noise and the highest are taken, which is the same law, in
    logarithms, so that no a^score overflows. The sample does not depend on the order in which the
    users are given; the places are in the order of drawing.
    """
    values = np.asarray(scores, dtype=np.float64)
    _check(users, values, count, base)
    order = np.lexsort((np.asarray(users, dtype=np.str_), -values))
    noise = np.random.default_rng(seed).gumbel(size=len(values))
    keys = values[order] * math.log(base) + noise
    return np.asarray(order[np.argsort(-keys, kind="stable")[:count]], dtype=np.int64)


def _check(users: Sequence[str], scores: NDArray[np.float64], count: int, base: float) -> None:
    if scores.shape != (len(users),):
        raise ParameterError(f"scores must be as many as users, {len(users)}, got {scores.shape}.")
    if len(set(users)) < len(users):
        raise ParameterError("users must differ; sample one topic and measure at a time.")
    if not np.isfinite(scores).all():
        raise ParameterError("scores must be finite; sample from a ranking by strength.")
    if not 1 <= count <= len(users):
        raise ParameterError(f"count must be 1 to {len(users)}, the users, got {count}.")
    if not 1.0 <= base < math.inf:
        raise ParameterError(f"base must be finite and >= 1, got {base}.")
