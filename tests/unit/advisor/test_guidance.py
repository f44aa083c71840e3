"""Guidance: every effect that is told is what would happen; nothing is ordered or diagnosed."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from sottovoce.advisor import verdict as say
from sottovoce.advisor.community import Community
from sottovoce.advisor.person import Person
from sottovoce.advisor.person_values import AdvisorSetting, Post
from sottovoce.advisor.standing import Standing
from sottovoce.advisor.verdict import decisive_posts, guidance, stands_out

ORDERS = re.compile(r"\b(must|should|have to|need to|diagnos\w+|sick|ill|patient|addict)\b")


@pytest.fixture(scope="module")
def person() -> Person:
    community = Community.demo()
    return Person(community, user=community.example)


@pytest.fixture(scope="module")
def exposed(person: Person) -> Standing:
    return min(person.standings(), key=lambda each: each.percent or 100)


def test_who_stands_out_gets_options_and_may_leave_things(
    person: Person, exposed: Standing
) -> None:
    found = guidance(exposed, person.evidence(exposed.topic), person)
    kinds = [each.kind for each in found]
    assert kinds == ["anonymous", "rephrase", "remove", "remove", "nothing"]
    assert all(each.reason for each in found)
    outright = person.disclosures.of_topic(exposed.topic).outright
    assert set(found[2].posts) == set(outright), "the first to remove are those that say it"


def test_who_says_it_outright_gets_options_however_late_their_place(person: Person) -> None:
    said = [Post(1, datetime(2026, 9, 1, tzinfo=UTC), "I am in debt and I told nobody")]
    quiet = Person(person.community, [*said, *_bread()])
    standing = replace(quiet.standing("debt"), low=400, high=400, surely=400)
    assert not stands_out(standing, quiet)
    found = guidance(standing, quiet.evidence("debt"), quiet)
    assert [each.kind for each in found] == ["anonymous", "rephrase", "remove", "nothing"]
    assert found[2].title == say.REMOVE_OUTRIGHT
    assert found[3].reason == say.NOTHING_REASON_FLAGGED
    alone = guidance(replace(standing, users=1, low=1, high=1), quiet.evidence("debt"), quiet)
    assert {each.effect for each in alone} == {None}, "nobody else is known: no place to tell"


def _bread() -> list[Post]:
    return [Post(n, datetime(2026, 9, n, tzinfo=UTC), "bread and butter") for n in range(2, 9)]


def test_told_effects_are_the_exact_ones(person: Person, exposed: Standing) -> None:
    column = person.column(exposed.topic)
    found = {each.kind: each for each in guidance(exposed, person.evidence(exposed.topic), person)}
    remove, rephrase = found["remove"], found["rephrase"]
    assert remove.standing == person.standings_without(remove.posts)[column]
    assert remove.standing is not None
    assert say.place(remove.standing) in (remove.effect or "")
    without = [
        post._replace(text=re.sub(rf"(?i)\b({'|'.join(rephrase.words)})\b", " ", post.text))
        for post in person.posts
    ]
    rewritten = Person(person.community, without, person.user).standing(exposed.topic)
    assert rephrase.standing is not None
    assert (rephrase.standing.score, rephrase.standing.low) == (rewritten.score, rewritten.low)


def test_the_posts_named_are_few_and_each_step_lowers_the_score(
    person: Person, exposed: Standing
) -> None:
    column = person.column(exposed.topic)
    posts = decisive_posts(person, exposed.topic)
    scores = [
        person.standings_without(posts[:count])[column].score or 0
        for count in range(len(posts) + 1)
    ]
    assert 1 <= len(posts) <= 5
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] < scores[0]


def test_no_more_posts_are_named_than_it_takes(person: Person) -> None:
    wide = person.with_setting(AdvisorSetting(thresholds=(2,)))
    topic = min(wide.standings(), key=lambda each: each.percent or 100).topic
    column, posts = wide.column(topic), decisive_posts(wide, topic)
    assert not stands_out(wide.standings_without(posts)[column], wide)
    assert stands_out(wide.standings_without(posts[:-1])[column], wide)


def test_who_does_not_stand_out_is_left_in_peace(person: Person) -> None:
    for standing in person.standings():
        if not stands_out(standing, person):
            found = guidance(standing, person.evidence(standing.topic), person)
            assert [each.kind for each in found] == ["nothing"]
            break
    else:
        pytest.fail("everybody stands out everywhere")


def test_who_is_just_below_the_band_is_told_their_place_and_not_that_it_is_late(
    person: Person,
) -> None:
    standing = Standing("debt", "money", "bow-t", 501, 0.2, 51, 51, 51)
    quiet = Person(person.community, _bread())
    assert not stands_out(standing, quiet)
    (only,) = guidance(standing, quiet.evidence("debt"), quiet)
    assert only.reason == (
        "A ranking of 501 people would list you at place 51, and no post of yours was found to say "
        "it outright. Speaking openly can be worth it."
    )


def test_who_has_no_post_gets_no_advice(person: Person, exposed: Standing) -> None:
    gone = person.standings_without([post.id for post in person.posts])[
        person.column(exposed.topic)
    ]
    assert guidance(gone, person.evidence(exposed.topic), person) == []


def test_sentences_give_no_orders_and_no_diagnosis() -> None:
    constants = {name: value for name, value in vars(say).items() if name.isupper()}
    words = [value for value in constants.values() if isinstance(value, str)]
    assert len(words) >= 9
    for sentence in words:
        if sentence != say.NOT_A_DIAGNOSIS:
            assert not ORDERS.search(sentence.removesuffix("nothing needs to be done."))
    assert "not a diagnosis" in say.NOT_A_DIAGNOSIS
