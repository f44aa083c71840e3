"""What the page shows, without a script."""

import re
from html import unescape
from pathlib import Path

import pyarrow as pa
import pytest
from support.advisor_page import PageClient, table_bytes

from sottovoce.advisor.community import Community
from sottovoce.advisor.person import Person
from sottovoce.web.advise._pages import list_signs
from sottovoce.web.advise._words import measure_in_words, place, places

POSTS = "2024-03-01 The rehab clinic again.\n\n2024-03-09 Relapse, heroin, detox.\n\nI bake bread."


def demo_person() -> Person:
    community = Community.demo()
    return Person(community, user=community.example)


def topic_of(client: PageClient) -> str:
    return min(client.person.standings(), key=lambda one: one.high or 0).topic


def test_the_first_page_depends_on_whether_something_was_brought(client: PageClient) -> None:
    assert client.get("/").headers["location"] == "/start"
    for path in ("/standing", "/topic?name=hiv", "/draft"):
        assert client.get(path).headers["location"] == "/start"
    client.post("/start/demo")
    assert client.get("/").headers["location"] == "/standing"


def test_the_overview_says_place_and_band_and_that_it_is_no_diagnosis(demo: PageClient) -> None:
    text = demo.get("/standing").text
    assert "not a diagnosis" in text
    assert measure_in_words(demo_person().setting.measure) in unescape(text)
    for one in demo_person().standings():
        assert one.topic in text
    first = list_signs(demo_person())[0].standing
    assert f"a ranking of {first.users} people would list you {places(first)}" in text
    assert text.index("<h1") < text.index("How this is computed") < text.index("not a diagnosis")


def test_the_topic_shows_posts_words_parts_a_timeline_and_ways(demo: PageClient) -> None:
    topic, person = topic_of(demo), demo_person()
    text = demo.get("/topic", params={"name": topic}).text
    evidence, one = person.evidence(topic, 20), person.standing(topic)
    for part, value in [("Strength", one.strength), ("Breadth", one.breadth)]:
        assert f"{part}: {value:.2f}" in text
    assert f"Persistence: {one.persistence:.2f}" in text
    for word in evidence.words:
        assert f'<th scope="row">{word.word}</th>' in text
    assert text.count('name="kept"') == len(evidence.posts)
    starts = person.timeline(topic).starts
    assert all(f'<th scope="row">{start}</th>' in text for start in starts)
    assert "alert line" in text
    assert "<mark>" in text
    for way in ("another name", "other words", "Remove some posts", "Leave things as they are"):
        assert way in text


def test_unticking_posts_is_exact_and_survives_a_reload(demo: PageClient) -> None:
    topic, person = topic_of(demo), demo_person()
    shown = [post.id for post in person.evidence(topic, 20).posts]
    kept, gone = shown[3:], shown[:3]
    form = {"topic": topic, "shown": shown, "kept": kept}
    back = demo.post("/what-if", data=form).headers["location"]
    expected = person.standings_without(gone)[person.column(topic)]
    still = len(set(person.disclosures.of_topic(topic).outright) - set(gone))
    for _ in range(2):
        text = demo.get(back).text
        assert f"at place {expected.low} instead of" in text
        assert f"3 posts of {len(person.posts)} left out" in text
        assert f"{still} of the others still say it outright." in text
        assert text.count("checked") == len(kept)
    demo.post("/what-if", data={**form, "again": "yes"})
    assert "All your posts are ticked" in demo.get(back).text


def test_unticking_by_script_gives_the_same_numbers(demo: PageClient) -> None:
    topic, person = topic_of(demo), demo_person()
    shown = [post.id for post in person.posts]
    body = {"topic": topic, "shown": shown, "kept": shown[5:]}
    answer = demo.put("/api/what-if", json=body).json()
    expected = place(person.standings_without(shown[:5])[person.column(topic)])
    assert expected is not None
    assert answer["mark"]["x"] == pytest.approx(expected.x)
    nothing_left = demo.put("/api/what-if", json={**body, "kept": []}).json()
    assert nothing_left["mark"] is None
    assert "nobody could list you" in nothing_left["change"]


def test_posts_of_others_cannot_be_unticked(demo: PageClient) -> None:
    body = {"topic": topic_of(demo), "shown": [10**6], "kept": []}
    refused = demo.put("/api/what-if", json=body)
    assert (refused.status_code, refused.json()["detail"]) == (
        400,
        "Posts must be yours, got 1 that are not.",
    )


def test_a_draft_is_checked_with_and_without_script_and_kept(demo: PageClient) -> None:
    topic, person = topic_of(demo), demo_person()
    text = " ".join(word.word for word in person.evidence(topic).words)
    (row,) = [
        row
        for row in demo.post("/api/draft", json={"text": text}).json()["rows"]
        if row["topic"] == topic
    ]
    after = person.with_draft(text).topics[person.column(topic)].after
    assert row["then"].startswith(str(after.low))
    assert demo.post("/draft", data={"text": text}).headers["location"] == "/draft"
    shown = demo.get("/draft").text
    assert text in shown
    assert row["words"] in shown
    demo.post("/draft", data={"text": text, "empty": "yes"})
    assert "There is no draft yet." in demo.get("/draft").text


def test_pasted_posts_are_taken_apart_and_dated(client: PageClient) -> None:
    assert client.post("/start/paste", data={"posts": POSTS}).headers["location"] == "/standing"
    found = client.person.posts
    assert [str(post.time.date()) for post in found if "Relapse" in post.text] == ["2024-03-09"]
    assert "3 posts of yours" in client.get("/standing").text
    assert "as new as the newest post you are compared with" in client.get("/start").text
    newest = demo_person().community.now
    assert newest is not None
    dates = [str(post.time.date()) for post in found if "bread" in post.text]
    assert set(dates) <= {newest.date().isoformat()}


def table(users: list[str]) -> pa.Table:
    times = pa.array([f"2024-03-{day:02}" for day in range(1, len(users) + 1)])
    texts = [f"rehab relapse heroin {user}" if user == "ann" else "bread" for user in users]
    return pa.table({"user": users, "time": times, "text": texts})


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_a_file_of_ones_own_posts_needs_no_user(
    client: PageClient, tmp_path: Path, kind: str
) -> None:
    posts, name = table(["ann", "ann"]).drop_columns(["user"]), f"posts.{kind}"
    sent = client.upload(name, table_bytes(posts, name, tmp_path), holds="mine")
    assert sent.headers["location"] == "/standing"
    assert "2 posts of yours" in client.get("/standing").text


def test_of_a_community_she_says_which_one_she_is(client: PageClient, tmp_path: Path) -> None:
    posts = table(["ann", "bob", "cy", "ann", "<b>di</b>"])
    sent = client.upload("a.csv", table_bytes(posts, "a.csv", tmp_path), holds="community")
    assert sent.headers["location"] == "/start/who"
    text = client.get("/start/who").text
    assert "5 posts of 4 people" in text
    assert "&lt;b&gt;di&lt;/b&gt;" in text
    assert client.post("/start/who", data={"user": "eve"}).status_code == 404
    assert client.post("/start/who", data={"user": "ann"}).headers["location"] == "/standing"
    found = client.person.standing("drug addiction")
    assert (found.low, found.users) == (1, 4)


def test_settings_change_what_is_shown_and_bad_ones_change_nothing(demo: PageClient) -> None:
    form = {"measure": "bow-t", "k": "0.5", "m": "2", "bucket": "1mo", "hysteresis": "0.1"}
    form["thresholds"] = "5, 20%"
    assert demo.post("/settings", data=form).status_code == 303
    assert "first 20%" in demo.get("/standing").text
    assert "<code>bow-t</code>" in demo.get("/standing").text
    for name, value in [("bucket", "1y"), ("measure", "x"), ("thresholds", "a")]:
        refused = demo.post("/settings", data={**form, name: value})
        assert refused.status_code == 409
        assert "Nothing was changed" in refused.text
    for name, value in [("m", "0"), ("k", "1.5"), ("k", "nan"), ("hysteresis", "-1")]:
        refused = demo.post("/settings", data={**form, name: value})
        assert refused.status_code == 422
        assert f"{name}: Input should be" in refused.text
    assert 'value="1mo"' in demo.get("/settings").text


def test_alerts_of_the_demo_stay_with_the_demo(demo: PageClient) -> None:
    assert "You entered the first" in demo.get("/alerts").text
    demo.post("/start/paste", data={"posts": "bread and butter"})
    assert "There are no alerts" in demo.get("/alerts").text


def test_alerts_are_new_until_she_has_seen_them(demo: PageClient) -> None:
    assert "new alert" in demo.get("/standing").text
    assert ">new</span>" in demo.get("/alerts").text
    assert demo.post("/alerts/seen").headers["location"] == "/alerts"
    assert ">new</span>" not in demo.get("/alerts").text
    assert "You entered the first" in demo.get("/alerts").text
    assert "new alert" not in demo.get("/standing").text


def test_deleting_leaves_nothing(demo: PageClient, tmp_path: Path) -> None:
    demo.post("/start/paste", data={"posts": POSTS})
    demo.post("/draft", data={"text": "a secret draft"})
    assert "Relapse" in demo.get("/topic?name=drug addiction").text
    assert demo.post("/delete", data={"sure": "no"}).headers["location"] == "/delete"
    assert demo.get("/").headers["location"] == "/standing"
    assert demo.post("/delete", data={"sure": "yes"}).status_code == 303
    assert demo.get("/").headers["location"] == "/start"
    assert demo.post("/api/draft", json={"text": "bread"}).status_code == 409
    assert "There are no alerts" in demo.get("/alerts").text
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"Relapse" not in kept
    assert b"drug addiction" not in kept


def test_no_page_has_inline_code_or_asks_elsewhere(demo: PageClient) -> None:
    pages = ["/start", "/standing", "/draft", "/settings", "/alerts", "/delete"]
    for path in [*pages, f"/topic?name={topic_of(demo)}"]:
        text = demo.get(path).text
        assert not re.search(r"<script(?! src=\"/assets/page.js\" defer></script>)", text)
        assert not re.search(r"<[^>]*\s(style|on\w+)=", text)
        assert not re.search(r"(src|href|action)=\"(?!/|#|data:,)", text)
