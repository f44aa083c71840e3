"""Whether a few posts are in English: another language is told, and English never warned of."""

import json

import pytest
from support.disclosure_posts import EVERYDAY, FOLDER, FORMER, OPEN, UNTOPICAL

from sottovoce.advisor.person_values import (
    FEWEST_WORDS,
    draft_warning,
    posts_warning,
    seems_foreign,
)

OTHERS = (
    "Ich habe Depressionen und nehme Tabletten, und ich sage es keinem, auch den Eltern nicht.",
    "J'ai des dettes et je ne dors plus la nuit à cause de la banque.",
    "Ho perso il lavoro e non riesco più a pagare le bollette di casa nostra.",
    "Ik heb schulden en slaap niet meer, de bank belt elke dag en ik ben bang.",
    "Jag har skulder och kan inte sova, banken ringer varje dag och jag är rädd för dem.",
    "У меня депрессия, и я никому об этом не говорю.",
    "我有抑郁症，每天都要吃药，家里人还不知道。",
)
GERMAN = OTHERS[0]
ENGLISH = "I went to the sea with my sister and it was cold, so we had tea at the house."


def lines(*names: str) -> list[str]:
    return [line for name in names for line in (FOLDER / name).read_text("utf-8").splitlines()]


def english_posts() -> list[str]:
    return [json.loads(line)["text"] for line in lines(OPEN, FORMER)] + lines(EVERYDAY, UNTOPICAL)


def test_no_english_post_alone_and_no_few_together_seem_foreign() -> None:
    posts = english_posts()
    assert len(posts) > 1000
    assert [post for post in posts if seems_foreign([post])] == []
    threes = [posts[start : start + 3] for start in range(len(posts))]
    assert [each for each in threes if seems_foreign(each)] == []


@pytest.mark.parametrize("text", OTHERS)
def test_one_post_in_another_language_is_told(text: str) -> None:
    assert seems_foreign([text])
    warning = posts_warning([text], built_in=True) or ""
    assert warning.startswith(
        "These posts do not seem to be in English. The built-in topics and the"
    )
    assert "finding nothing means nothing" in warning


def test_a_short_post_pasted_several_times_is_told() -> None:
    assert posts_warning(["Ich habe Depressionen und nehme Tabletten."] * 3, built_in=True)


def test_what_is_too_short_to_tell_is_not_warned_of() -> None:
    listed = " ".join(["heroin"] * (FEWEST_WORDS - 1))
    assert posts_warning([listed], built_in=True) is None


def test_of_posts_in_two_languages_it_is_said_how_many_are_not_read() -> None:
    assert posts_warning([ENGLISH] * 9, built_in=True) is None
    one = posts_warning([ENGLISH] * 9 + [GERMAN], built_in=True) or ""
    assert one.startswith("Of your 10 posts, 1 post does not seem to be in English.")


def test_with_topics_of_ones_own_the_built_in_ones_are_not_blamed() -> None:
    warning = draft_warning(GERMAN, built_in=False) or ""
    assert warning.startswith(
        "The draft does not seem to be in English. The page reads what posts say outright"
    )
    assert "built-in" not in warning
    assert draft_warning(ENGLISH, built_in=False) is None
