"""Guidance: what a person could do, why, and what it would change. They decide.

Every sentence that the advisor says to a person is here: plain English; what an adversary sees,
never what the person is; options with reasons, never orders.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sottovoce.advisor.evidence import Evidence, heaviest_post
from sottovoce.advisor.standing import BANDS, REST, Standing
from sottovoce.advisor.verdict import how_soon
from sottovoce.assess.disclosure.levels import DisclosureLevel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sottovoce.advisor.person import Person


NOT_A_DIAGNOSIS = (
    "This is exposure: how soon somebody who ranks everybody by closeness to the topic would come "
    "to you, rightly or not. It says nothing about who you are, and it is not a diagnosis."
)
NOTHING = "Leave things as they are"
REMOVE = "Remove some posts"
REMOVE_OUTRIGHT = "Remove what says it outright"
REPHRASE = "Say it in other words"
ANONYMOUS = "Post about it under another name"

NOTHING_REASON = (
    "{where}, and no post of yours was found to say it outright. Speaking openly can be worth it."
)
NOTHING_REASON_FLAGGED = (
    "Being seen can be what you want: to help others, or to find help. Only you can weigh that."
)
REMOVE_REASON = (
    "These posts hold your place up more than any others. What others have copied or archived does "
    "not go away with them."
)
OUTRIGHT_REASON = (
    "These posts say it outright: whoever reads one knows, whatever your place. What others have "
    "copied or archived does not go away with them."
)
REPHRASE_REASON = (
    "These words tie your posts to the topic. A program that ranks people looks for such words; a "
    "reader will understand you without some of them."
)
ANONYMOUS_REASON = (
    "What is posted under another name does not count towards yours, as long as nothing ties the "
    "two together: the same phrases, hours, places or friends may."
)


def place(standing: Standing) -> str:
    """``place 12 of 500``, or a range where several share it or it is not known exactly."""
    if standing.low is None or standing.high is None:
        return "nowhere: you would have no post here"
    if standing.low == standing.high:
        return f"place {standing.low:,} of {standing.users:,}"
    return f"places {standing.low:,} to {standing.high:,} of {standing.users:,}"


def told(standing: Standing) -> str:
    """Where they stand for a topic, in a sentence."""
    if not standing.present:
        return f"For {standing.topic} you have no place: you have no post here."
    where = f"For {standing.topic} you stand at {place(standing)}, as an adversary sees it"
    return f"{where}: {_band(standing)}."


def unsure(standing: Standing) -> str:
    """How sure the place is, in a sentence."""
    found = standing.uncertainty
    if found is None or standing.low is None or standing.high is None:
        return ""
    if found.posts == 1:
        return "All of this rests on a single post."
    if (found.low, found.high) == (standing.low, standing.high):
        return f"No single one of your {found.posts:,} posts decides this."
    return (
        f"Had any one of your {found.posts:,} posts not been written, you would stand between "
        f"place {found.low:,} and {found.high:,}."
    )


def effect_of_removal(posts: int, standing: Standing) -> str:
    """What leaving out some posts would do."""
    which = "this post" if posts == 1 else f"these {posts} posts"
    if not standing.present:
        return f"Without {which} you would have no post here at all."
    return f"Without {which} you would be at {place(standing)}."


def effect_of_rephrasing(words: tuple[str, ...], standing: Standing) -> str:
    """What other words would do."""
    quoted = ", ".join(f"“{word}”" for word in words)
    return f"Had your posts done without {quoted}, you would be at {place(standing)}."


def effect_of_anonymity(standing: Standing) -> str:
    """What posting elsewhere does from now on."""
    return f"Your own place would stay where it is: {place(standing)}."


def nothing_reason(standing: Standing) -> str:
    """What is known where they neither stand out nor say it outright: the place, not its worth."""
    where = how_soon(standing)
    return NOTHING_REASON.format(where=where[:1].upper() + where[1:])


def _band(standing: Standing) -> str:
    if standing.best_band != standing.band:
        return (
            f"somewhere between the {standing.best_band} and the {standing.band}; what is known of "
            "the others does not tell more"
        )
    if standing.band == REST:
        return "in the less exposed half"
    if standing.band == f"top {BANDS[-1]}%":
        return "in the more exposed half"
    return f"in the {standing.band}"


Kind = Literal["nothing", "remove", "rephrase", "anonymous"]
MOST_POSTS = 5
MOST_WORDS = 3


@dataclass(frozen=True)
class Suggestion:
    """One thing they could do."""

    kind: Kind
    title: str
    reason: str
    effect: str | None = None
    """What it would change, computed exactly; None where nothing can be computed."""
    posts: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    standing: Standing | None = None
    """Where they would stand."""


def guidance(
    standing: Standing, evidence: Evidence, person: "Person | None" = None
) -> list[Suggestion]:
    """What they could do about one topic; with ``person`` the effects are computed.

    Who neither stands out nor says it outright is told their place, and gets no other option.
    """
    outright = _outright(evidence, person)
    if not standing.present or (standing.users == 1 and not outright):
        return []
    if not outright and not stands_out(standing, person):
        return [Suggestion("nothing", NOTHING, nothing_reason(standing))]
    if standing.users == 1:
        # Nobody else is known, so that no effect on a place can be told.
        return [
            Suggestion("anonymous", ANONYMOUS, ANONYMOUS_REASON),
            *_rephrase(standing, evidence, None),
            *_remove_outright(standing, outright, None),
            Suggestion("nothing", NOTHING, NOTHING_REASON_FLAGGED),
        ]
    return [
        _anonymous(standing),
        *_rephrase(standing, evidence, person),
        *_remove_outright(standing, outright, person),
        *(_remove(standing, evidence, person) if stands_out(standing, person) else ()),
        Suggestion("nothing", NOTHING, NOTHING_REASON_FLAGGED),
    ]


def _outright(evidence: Evidence, person: "Person | None") -> tuple[int, ...]:
    """All posts that say it outright; without the person those that are listed."""
    if person is not None:
        return person.said.of_topic(evidence.topic).outright
    return tuple(post.id for post in evidence.posts if post.level is DisclosureLevel.OUTRIGHT)


def stands_out(standing: Standing, person: "Person | None" = None) -> bool:
    """Whether they are, as far as is known, in the widest band that raises an alert.

    Where a histogram leaves it open they are not told that they do not stand out.
    """
    thresholds: Sequence[int] = (10,) if person is None else person.setting.thresholds
    return any(standing.may_be_within(percent) for percent in thresholds)


def decisive_posts(person: "Person", topic: str, most: int = MOST_POSTS) -> tuple[int, ...]:
    """Few posts without which they would not stand out, found one after another; at most ``most``.

    Each step leaves out the post without which their score falls most. The steps are greedy, so
    fewer posts may do; where they stand without them is exact.
    """
    gone: list[int] = []
    left = person
    while len(gone) < min(most, len(person.posts) - 1):
        leading = heaviest_post(left, topic)
        if leading is None:
            break
        gone.append(leading)
        left = person.lacking(gone)
        if not stands_out(left.standing(topic), person):
            break
    return tuple(gone)


def _remove_outright(
    standing: Standing, posts: tuple[int, ...], person: "Person | None"
) -> list[Suggestion]:
    if not posts:
        return []
    if person is None:
        return [Suggestion("remove", REMOVE_OUTRIGHT, OUTRIGHT_REASON, posts=posts)]
    after = person.without(posts)[person.column(standing.topic)]
    effect = effect_of_removal(len(posts), after)
    return [
        Suggestion("remove", REMOVE_OUTRIGHT, OUTRIGHT_REASON, effect, posts=posts, standing=after)
    ]


def _anonymous(standing: Standing) -> Suggestion:
    effect = effect_of_anonymity(standing)
    return Suggestion("anonymous", ANONYMOUS, ANONYMOUS_REASON, effect, standing=standing)


def _rephrase(standing: Standing, evidence: Evidence, person: "Person | None") -> list[Suggestion]:
    words = tuple(word.word for word in evidence.words[:MOST_WORDS])
    if not words:
        return []
    if person is None:
        return [Suggestion("rephrase", REPHRASE, REPHRASE_REASON, words=words)]
    after = person.without_words(words)[person.column(standing.topic)]
    effect = effect_of_rephrasing(words, after)
    return [Suggestion("rephrase", REPHRASE, REPHRASE_REASON, effect, words=words, standing=after)]


def _remove(standing: Standing, evidence: Evidence, person: "Person | None") -> list[Suggestion]:
    if person is None:
        posts = tuple(post.id for post in evidence.posts[:MOST_POSTS] if post.share > 0)
        return [Suggestion("remove", REMOVE, REMOVE_REASON, posts=posts)] if posts else []
    posts = decisive_posts(person, standing.topic)
    if not posts:
        return []
    after = person.without(posts)[person.column(standing.topic)]
    effect = effect_of_removal(len(posts), after)
    return [Suggestion("remove", REMOVE, REMOVE_REASON, effect, posts=posts, standing=after)]
