"""Why one user stands where she stands, and where she would stand without some of her posts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess._explain.contributions import SpaceParts, WordParts
from sottovoce.assess._explain.explanation import Explanation, Position, PostShare, UserPosts
from sottovoce.assess._ranking import susceptibility
from sottovoce.assess._score import Scoring
from sottovoce.assess._setting import Setting
from sottovoce.assess.measures._catalogue import Measure
from sottovoce.assess.measures._entropy import check_community
from sottovoce.assess.state._state import State, merge
from sottovoce.errors import InputError

MOST = 10


@dataclass(frozen=True)
class Question:
    """Why does ``user`` stand where she stands by ``measure`` for ``topic``?"""

    user: str
    topic: str
    measure: Measure
    setting: Setting


def explain(
    state: State,
    scoring: Scoring,
    her: UserPosts,
    question: Question,
    *,
    without: tuple[int, ...] = (),
    most: int = MOST,
) -> Explanation:
    """Her position, the ``most`` posts and words that matter most, and what if.

    ``state`` holds everybody's posts and ``her`` all of the user's. All numbers are exact.
    """
    row = _checked_row(state, question.user, her)
    space = question.measure.space
    parts: SpaceParts | WordParts
    if space is None:
        parts = WordParts(
            state, scoring, her, question.topic, question.measure, question.setting, row
        )
    else:
        parts = SpaceParts(state, scoring, her, question.topic, question.measure, question.setting)
    return Explanation(
        position=position(state, question),
        interest=parts.interest(row),
        posts=_shares(scoring, her, parts, most),
        words=parts.words(most),
        without=what_if(state, scoring, her, question, without) if without else None,
    )


def what_if(
    state: State, scoring: Scoring, her: UserPosts, question: Question, removed: tuple[int, ...]
) -> Position:
    """Her position had she never written ``removed``: exactly as if all were scored again."""
    remaining = her.without(removed)
    others = state.without(question.user)
    if not remaining.num_rows:
        return Position(None, None, len(others))
    return position(merge(others, scoring.state_of(remaining.to_batches())), question)


def position(state: State, question: Question) -> Position:
    """The user's score and rank."""
    check_community(len(state))
    row = state.users.row(question.user)
    scores = question.measure.score(state, question.topic, question.setting)
    return Position(float(scores[row]), int(susceptibility(scores)[row]), scores.size)


def _shares(
    scoring: Scoring, her: UserPosts, parts: SpaceParts | WordParts, most: int
) -> tuple[PostShare, ...]:
    """The posts without which her score would fall most, of equals the strongest first."""
    strengths = parts.strengths()
    weights = np.zeros(her.numbers.size) if strengths is None else strengths
    # Only as many are tried as could be shown: a weaker post of a bucket adds nothing.
    tried = np.argsort(-weights, kind="stable")[: None if strengths is None else 4 * most]
    adds = parts.adds(tried)
    order = np.lexsort((-weights[tried], -adds))[:most]
    return tuple(_share(scoring, her, strengths, tried[i], float(adds[i])) for i in order)


def _share(
    scoring: Scoring,
    her: UserPosts,
    strengths: NDArray[np.float64] | None,
    post: int,
    adds: float,
) -> PostShare:
    bucket, times = scoring.header.bucket, her.table["time"].combine_chunks()
    return PostShare(
        number=int(her.numbers[post]),
        time=times[int(post)].as_py(),
        bucket=bucket.first_day(int(bucket.numbers(times.slice(int(post), 1))[0])),
        adds=adds,
        strength=None if strengths is None else float(strengths[post]),
    )


def _checked_row(state: State, user: str, her: UserPosts) -> int:
    row = state.users.row(user)
    if not her.numbers.size:
        raise InputError("the user has no post in these files.")
    if row is None:
        raise InputError(
            "the user has posts in these files but is not in the state: it was made from other "
            "files, or she was erased from it."
        )
    held = int(state.posts[row])
    if held != her.numbers.size:
        raise InputError(
            f"the state holds {held} posts of the user, these files {her.numbers.size}; "
            "give all files that were folded in, each once."
        )
    return row
