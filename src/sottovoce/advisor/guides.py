"""Guidance: what a person could do, why, and what it would change. They decide.

Every sentence that the advisor says to a person is here: plain English; what an adversary sees,
never what the person is; options with reasons, never orders.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sottovoce.advisor.evidence import Evidence, heaviest_post
from sottovoce.advisor.standing import Standing
from sottovoce.advisor.verdict import how_soon

if TYPE_CHECKING:
    from sottovoce.advisor.person import Person


NOT_A_DIAGNOSIS = (
    "This is exposure: how early you come when somebody ranks everybody by how close they write to "
    "the topic, rightly or wrongly. It says nothing about who you are, and it is not a diagnosis."
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
    "These posts raise your place more than any others. Copies and archives that others made stay."
)
OUTRIGHT_REASON = (
    "Anyone who reads one of these posts knows it, whatever your place. Copies and archives that "
    "others made stay."
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


def guidance(standing: Standing, evidence: Evidence, person: "Person") -> list[Suggestion]:
    """What they could do about one topic, and what it would change.

    Who neither stands out nor says it outright is told their place, and gets no other option.
    """
    outright = person.disclosures.of_topic(evidence.topic).outright
    if not standing.present or (standing.users == 1 and not outright):
        return []
    if not outright and not stands_out(standing, person):
        return [Suggestion("nothing", NOTHING, nothing_reason(standing))]
    alone = standing.users == 1
    elsewhere = None if alone else effect_of_anonymity(standing)
    place_kept = None if alone else standing
    found = [Suggestion("anonymous", ANONYMOUS, ANONYMOUS_REASON, elsewhere, standing=place_kept)]
    if words := tuple(word.word for word in evidence.words[:MOST_WORDS]):
        found.append(_rephrase(standing, words, person))
    if outright:
        found.append(_remove_outright(standing, outright, person))
    early = not alone and stands_out(standing, person)
    if early and (posts := decisive_posts(person, standing.topic)):
        found.append(_remove(standing, posts, person, REMOVE, REMOVE_REASON))
    return [*found, Suggestion("nothing", NOTHING, NOTHING_REASON_FLAGGED)]


def stands_out(standing: Standing, person: "Person") -> bool:
    """Whether they are, as far as is known, in the widest band that raises an alert.

    Where a histogram leaves it open they are not told that they do not stand out.
    """
    return any(standing.may_be_within(percent) for percent in person.setting.thresholds)


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


def _remove_outright(standing: Standing, posts: tuple[int, ...], person: "Person") -> Suggestion:
    """Nobody else may be known: then there is no effect on a place."""
    if standing.users == 1:
        return Suggestion("remove", REMOVE_OUTRIGHT, OUTRIGHT_REASON, posts=posts)
    return _remove(standing, posts, person, REMOVE_OUTRIGHT, OUTRIGHT_REASON)


def _remove(
    standing: Standing, posts: tuple[int, ...], person: "Person", title: str, reason: str
) -> Suggestion:
    after = person.standings_without(posts)[person.column(standing.topic)]
    effect = effect_of_removal(len(posts), after)
    return Suggestion("remove", title, reason, effect, posts=posts, standing=after)


def _rephrase(standing: Standing, words: tuple[str, ...], person: "Person") -> Suggestion:
    if standing.users == 1:
        return Suggestion("rephrase", REPHRASE, REPHRASE_REASON, words=words)
    after = person.without_words(words)[person.column(standing.topic)]
    effect = effect_of_rephrasing(words, after)
    return Suggestion("rephrase", REPHRASE, REPHRASE_REASON, effect, words=words, standing=after)
