"""Guidance: what she could do, why, and what it would change. She decides."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sottovoce.advisor import guidance_sentences as say
from sottovoce.advisor.person_evidence import Evidence
from sottovoce.advisor.standing import Standing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sottovoce.advisor.person import Person

Kind = Literal["nothing", "remove", "rephrase", "anonymous"]
MOST_POSTS = 5
MOST_WORDS = 3


@dataclass(frozen=True)
class Suggestion:
    """One thing she could do."""

    kind: Kind
    title: str
    reason: str
    effect: str | None = None
    """What it would change, computed exactly; None where nothing can be computed."""
    posts: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    standing: Standing | None = None
    """Where she would stand."""


def guidance(
    standing: Standing, evidence: Evidence, person: "Person | None" = None
) -> list[Suggestion]:
    """What she could do about one topic; with ``person`` the effects are computed.

    Who does not stand out is told so, and nothing else.
    """
    if not standing.present or standing.users == 1:
        return []
    if not stands_out(standing, person):
        return [Suggestion("nothing", say.NOTHING, say.NOTHING_REASON)]
    return [
        _anonymous(standing),
        *_rephrase(standing, evidence, person),
        *_remove(standing, evidence, person),
        Suggestion("nothing", say.NOTHING, say.NOTHING_REASON_FLAGGED),
    ]


def stands_out(standing: Standing, person: "Person | None" = None) -> bool:
    """Whether she is, as far as is known, in the widest band that raises an alert.

    Where a histogram leaves it open she is not told that she does not stand out.
    """
    thresholds: Sequence[int] = (10,) if person is None else person.setting.thresholds
    return any(standing.may_be_within(percent) for percent in thresholds)


def decisive_posts(person: "Person", topic: str, most: int = MOST_POSTS) -> tuple[int, ...]:
    """Few posts without which she would not stand out, found one after another; at most ``most``.

    Each step leaves out the post without which her score falls most. The steps are greedy, so fewer
    posts may do; where she stands without them is exact.
    """
    gone: list[int] = []
    left = person
    while len(gone) < min(most, len(person.posts) - 1):
        leading = left.evidence(topic, 1).posts
        if not leading:
            break
        gone.append(leading[0].id)
        left = person.lacking(gone)
        if not stands_out(left.standing(topic), person):
            break
    return tuple(gone)


def _anonymous(standing: Standing) -> Suggestion:
    effect = say.effect_of_anonymity(standing)
    return Suggestion("anonymous", say.ANONYMOUS, say.ANONYMOUS_REASON, effect, standing=standing)


def _rephrase(standing: Standing, evidence: Evidence, person: "Person | None") -> list[Suggestion]:
    words = tuple(word.word for word in evidence.words[:MOST_WORDS])
    if not words:
        return []
    if person is None:
        return [Suggestion("rephrase", say.REPHRASE, say.REPHRASE_REASON, words=words)]
    after = person.without_words(words)[person.column(standing.topic)]
    effect = say.effect_of_rephrasing(words, after)
    return [
        Suggestion(
            "rephrase", say.REPHRASE, say.REPHRASE_REASON, effect, words=words, standing=after
        )
    ]


def _remove(standing: Standing, evidence: Evidence, person: "Person | None") -> list[Suggestion]:
    if person is None:
        posts = tuple(post.id for post in evidence.posts[:MOST_POSTS] if post.share > 0)
        return [Suggestion("remove", say.REMOVE, say.REMOVE_REASON, posts=posts)] if posts else []
    posts = decisive_posts(person, standing.topic)
    if not posts:
        return []
    after = person.without(posts)[person.column(standing.topic)]
    effect = say.effect_of_removal(len(posts), after)
    return [
        Suggestion("remove", say.REMOVE, say.REMOVE_REASON, effect, posts=posts, standing=after)
    ]
