"""Made-up versions of one person: she without a post, with a draft, up to some week.

A variant is a set of rows of a ``PostMatrix``. A score in a vector space depends on one's own posts
alone, so all variants are scored at once as users of one small state, by the very code that scores
a community: what-if is exact because nothing else computes scores.
"""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.advisor._person_values import PostMatrix
from sottovoce.advisor._settings import AdvisorSetting
from sottovoce.assess.state._header import StateHeader
from sottovoce.assess.state._state import State


@dataclass(frozen=True, eq=False)
class Variants:
    """``count`` versions of a person; row r of ``posts`` belongs to version ``owner[r]``."""

    posts: PostMatrix
    owner: NDArray[np.int64]
    count: int

    @classmethod
    def one(cls, posts: PostMatrix) -> "Variants":
        """A single version."""
        return cls(posts, np.zeros(len(posts), np.int64), 1)

    def empty(self) -> NDArray[np.bool_]:
        """Which versions have no post at all."""
        return np.equal(np.bincount(self.owner, minlength=self.count), 0)


def state_of_variants(header: StateHeader, setting: AdvisorSetting, variants: Variants) -> State:
    """The state of a community of nobody but the variants, in the measure's space."""
    space = str(setting.how().space)
    small = replace(
        header,
        spaces={space: header.spaces[space]},
        salient=None,
        words=0,
        counted="",
        kept=setting.m,
        posts=False,
    )
    state = State(small)
    rows = state.rows(pa.array([str(number) for number in range(variants.count)], pa.string()))
    posts = variants.posts
    state.count_posts(rows[variants.owner])
    state.spaces[space].add_posts(rows[variants.owner], posts.buckets, posts.strengths)
    return state
