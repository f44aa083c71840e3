"""Real posts among made-up people: the page says what the others are, and what it cannot read."""

import re
from html import unescape

import pytest
from support.advisor_page import PageClient

from sottovoce.advisor._demo import sentences

GERMAN = "\n\n".join(["Ich habe Depressionen und nehme Tabletten."] * 4)
ENGLISH = (
    "I changed the day of the meeting and nobody asked.\n\n"
    "Today I baked bread and the cat slept on my keyboard.\n\n"
    "My sister told me to ask about it again, but I keep forgetting."
)
EVERYTHING = " ".join(sentences()["drug addiction"]["afflicted"])
ADDICTED = "\n\n".join(f"2026-10-{day:02} {EVERYTHING}" for day in (5, 12, 19))


def shown(client: PageClient, path: str) -> str:
    """What a reader sees of a page but for what is closed."""
    main = client.get(path).text.partition("<main")[2].partition("</main>")[0]
    whole = re.sub(r'<details class="how">.*?</details>', "", main, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", whole)))


def by_voice(client: PageClient) -> None:
    form = {"measure": "voice-t", "k": 0.3, "m": 3, "bucket": "1w", "hysteresis": 0.2}
    assert client.post("/settings", data={**form, "thresholds": "90"}).status_code == 303


@pytest.mark.parametrize("path", ["/standing", "/topic?name=depression"])
def test_a_page_on_posts_in_another_language_warns_above_the_verdict(
    client: PageClient, path: str
) -> None:
    client.post("/start/paste", data={"posts": GERMAN})
    page = client.get(path).text
    assert page.index("These posts do not seem to be in English.") < page.index("<h1")
    client.post("/start/paste", data={"posts": ENGLISH})
    assert "to be in English" not in client.get(path).text


def test_a_draft_in_another_language_is_not_said_to_show_nothing(client: PageClient) -> None:
    client.post("/start/paste", data={"posts": ENGLISH})
    answer = client.post("/api/draft", json={"text": GERMAN}).json()
    assert answer["summary"].startswith("The draft does not seem to be in English.")


def test_headline_strip_and_alerts_say_that_the_others_are_made_up(client: PageClient) -> None:
    client.post("/start/paste", data={"posts": ADDICTED})
    page = shown(client, "/standing")
    assert "ranking of you and 500 made-up people would list you" in page
    assert "You and 500 made-up people, who do not exist, from the one a ranking" in page
    assert "of whom all but you are made up" in page
    assert "The whole community" not in page
    assert "501 people" not in page
    assert "You and 500 made-up people" in shown(client, "/topic?name=drug addiction")
    assert "% among 500 made-up people. " in shown(client, "/alerts")
    assert {each.simulated for each in client.session.store.alerts()} == {True}


def test_among_made_up_people_a_topic_of_which_no_word_was_found_is_not_shown(
    client: PageClient,
) -> None:
    by_voice(client)
    client.post("/start/paste", data={"posts": ENGLISH})
    early = [one for one in client.person.standings() if (one.high or 0) <= 450]
    assert early, "by everyday words a ranking lists them"
    page = shown(client, "/standing")
    assert "No word of any of the 22 topics was found in your 3 posts" in page
    assert "Topics that show in your posts" not in page
    assert client.session.store.alerts() == []


def test_the_page_of_a_topic_that_no_post_names_does_not_contradict_itself(
    client: PageClient,
) -> None:
    by_voice(client)
    client.post("/start/paste", data={"posts": ENGLISH})
    topic = min(client.person.standings(), key=lambda one: one.high or 0).topic
    page = shown(client, f"/topic?name={topic}")
    assert "no word of it was found" in page
    assert "The posts that show it" not in page
    assert "None of them names the topic." in page
    assert "learnt from made-up texts" in page, "by a model of their own choice"


def test_real_posts_are_ranked_by_the_topics_words_unless_they_choose(client: PageClient) -> None:
    client.post("/start/paste", data={"posts": ENGLISH})
    assert "<code>bow-t</code>" in client.get("/standing").text
    client.post("/start/demo")
    assert "<code>voice-t</code>" in client.get("/standing").text
    client.post("/start/paste", data={"posts": ENGLISH})
    assert "<code>bow-t</code>" in client.get("/standing").text
    by_voice(client)
    client.post("/start/paste", data={"posts": ENGLISH})
    assert "<code>voice-t</code>" in client.get("/standing").text
