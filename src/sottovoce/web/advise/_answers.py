"""What if, and drafts: tried out on the engine, told in words."""

from collections.abc import Collection
from dataclasses import replace

from sottovoce.advisor import _guidance as say
from sottovoce.advisor._draft import DraftCheck, DraftTopic
from sottovoce.advisor._person import Person
from sottovoce.advisor._standing import Standing
from sottovoce.web.advise import _words as words
from sottovoce.web.advise._models import DraftAnswer, DraftRow, StandingAnswer, Way, WhatIfAnswer
from sottovoce.web.advise._views import counted

WORDS_NAMED = 6
REPHRASE_REASON = (
    "A program that ranks people looks for certain words; a reader may understand you without them."
)


def without_posts(person: Person, topic: str, removed: Collection[int]) -> WhatIfAnswer:
    """Where they would stand without these posts, in words."""
    before = person.standing(topic)
    found = person.without(sorted(removed)) if removed else person.standings()
    after = found[person.column(topic)]
    if removed:
        change = words.change(before, after)
        count = f"{counted(len(removed), 'post', 'posts')} of {len(person.posts):,} left out."
    else:
        change, count = "All your posts are ticked: this is where you stand now.", ""
    return WhatIfAnswer(
        change=change,
        count=count,
        removed=sorted(removed),
        before=StandingAnswer.of(before),
        after=StandingAnswer.of(after),
        standings=[StandingAnswer.of(one) for one in found],
    )


def with_draft(person: Person, text: str) -> DraftAnswer:
    """What publishing ``text`` would do, in words."""
    if not text.strip():
        return DraftAnswer(summary="There is no draft yet.", rows=[], ways=[])
    check = person.with_draft(text)
    changed = [topic for topic in check.topics if topic.before.score != topic.after.score]
    changed.sort(key=lambda topic: topic.after.percent or 100)
    if not changed:
        return DraftAnswer(summary=_nothing(check), rows=[], ways=[])
    worst = next((topic for topic in changed if topic.rises), changed[0])
    return DraftAnswer(
        summary=_summary(changed),
        rows=[_row(topic) for topic in changed],
        ways=_ways(worst),
    )


def _ways(topic: DraftTopic) -> list[Way]:
    """What they could do with the draft; publishing it as it is stands last, and is as good."""
    elsewhere = f"Your own place would stay where it is: {say.place(topic.before)}."
    ways = [Way(title=say.ANONYMOUS, reason=say.ANONYMOUS_REASON, effect=elsewhere)]
    if topic.words:
        word = topic.words[0]
        spared = say.place(replace(topic.after, low=word.low, high=word.high))
        effect = f"Without \u201c{word.word}\u201d you would be at {spared}."
        ways.append(Way(title=say.REPHRASE, reason=REPHRASE_REASON, effect=effect))
    reason = say.NOTHING_REASON_FLAGGED
    effect = f"You would be at {say.place(topic.after)}."
    return [*ways, Way(title="Publish it as it is", reason=reason, effect=effect)]


def _nothing(check: DraftCheck) -> str:
    if not check.known_words:
        return "None of its words is known here, so nothing can be told about it."
    return "It would change nothing: your place stays the same for every sensitive topic."


def _summary(changed: list[DraftTopic]) -> str:
    moved = [topic for topic in changed if topic.before.high != topic.after.high]
    if not moved:
        return "It would change your score a little, but your place for no sensitive topic."
    return " ".join(words.change(topic.before, topic.after) for topic in moved[:2])


def _row(topic: DraftTopic) -> DraftRow:
    named = ", ".join(word.word for word in topic.words[:WORDS_NAMED])
    return DraftRow(
        topic=topic.before.topic,
        now=_where(topic.before),
        then=_where(topic.after),
        words=named or "none alone",
    )


def _where(standing: Standing) -> str:
    return f"{words.short_places(standing)} ({words.chip(standing)})"
