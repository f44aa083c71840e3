"""The buckets at which a score may have changed: the others need not be scored."""

from typing import TYPE_CHECKING

import numpy as np

from sottovoce.advisor.person_values import PostMatrix
from sottovoce.assess.measures.domain import domain_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sottovoce.advisor.person import Person


def steps_of(person: "Person", topic: str) -> PostMatrix:
    """One row for each bucket at which her score for ``topic`` may change, the first included.

    A bucket that is none of the m best of any topic of the domain when it comes will never be.
    """
    if person.measure.space is None:
        return _new_words(person, topic)
    rows = person.tops.rows
    names, domains = person.community.catalogue.names, _domains(person)
    inside = domain_columns(domains, names.index(topic), with_itself=True)
    return rows.take(_among_the_best(rows.strengths[:, inside], person.setting.m))


def _among_the_best(strengths: "NDArray[np.float64]", m: int) -> "NDArray[np.bool_]":
    """Which rows are among the m best of any column so far."""
    best = np.full((m, strengths.shape[1]), -np.inf)
    columns = np.arange(strengths.shape[1])
    found = np.zeros(len(strengths), np.bool_)
    for row, values in enumerate(strengths):
        weakest = best.argmin(axis=0)
        better = values > best[weakest, columns]
        found[row] = better.any()
        best[weakest[better], columns[better]] = values[better]
    return found


def _new_words(person: "Person", topic: str) -> PostMatrix:
    """Buckets with a word of the topic that she had not used before."""
    posts = person.matrix
    order = np.argsort(posts.buckets, kind="stable")
    have, starts = np.unique(posts.buckets[order], return_index=True)
    words = np.bitwise_or.reduceat(posts.words[order], starts, axis=0)
    salient = list((person.community.scoring.header.salient or {})[topic])
    used = np.bitwise_or.accumulate(
        np.unpackbits(words, axis=1, bitorder="little")[:, salient], axis=0
    ).sum(axis=1)
    new = np.diff(used, prepend=-1) > 0
    return PostMatrix(have[new], np.zeros((int(new.sum()), 0)), words[new])


def _domains(person: "Person") -> list[str]:
    return [each.domain for each in person.community.catalogue]
