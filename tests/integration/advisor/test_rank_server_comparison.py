"""Compared with a rank server's histograms: asked for, never told anything."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.advisor_page import served

from sottovoce.advisor.community import Community
from sottovoce.advisor.rank.description import Buckets, Description, RankedTopic
from sottovoce.advisor.rank.histogram import Histogram as Published
from sottovoce.errors import InputError
from sottovoce.web.advise.session import ask

TOPIC = "drug addiction"
POSTS = "2024-03-01 rehab relapse heroin\n\n2024-03-09 opioid overdose\n\n2024-03-20 bread"


def description(**changed: Any) -> Description:  # noqa: ANN401 - its fields
    topics = (RankedTopic(TOPIC, "bow-t", Buckets.even(-1, 1, 20)),)
    given = {"mode": "shares", "epsilon": Fraction(1), "topics": topics, **changed}
    return Description(**given)


class Server:
    """A rank server that answers from memory and notes what it is asked."""

    def __init__(self, described: Description, published: list[Published]) -> None:
        self.described, self.published = described, published
        self.asked: list[tuple[str, str, object]] = []

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        self.asked.append((method, path, body))
        if path == "/description":
            return self.described.record()
        if path.endswith(f"/{TOPIC.replace(' ', '%20')}"):
            return {"topic": TOPIC, "periods": [one.period for one in self.published]}
        (found,) = [one for one in self.published if path.endswith(f"/{one.period}")]
        return found.record()


def published(described: Description, period: int = 7, scale: int = 1) -> Published:
    counts = [scale * 10 * (20 - bucket) for bucket in range(20)]
    return Published.of_opened(described, TOPIC, period, sum(counts), counts)


def test_a_place_is_a_range_and_the_setting_is_the_servers(tmp_path: Path) -> None:
    described = description()
    withheld = Published.withheld(described, TOPIC, 9)
    server = Server(described, [published(described), withheld, published(described, 8, 2)])
    comparison = ask(server, (), Community.demo().catalogue)
    assert all(method == "GET" and body is None for method, _, body in server.asked)
    with served(tmp_path, comparison=comparison) as client:
        client.post("/start/paste", data={"posts": POSTS})
        (one,) = client.person.standings()
        assert one.users == 4201
        assert (one.low or 0) < (one.high or 0)
        form = {"measure": "bow-t", "k": "0.3", "m": "3", "bucket": "1w", "hysteresis": "0"}
        form["thresholds"] = "25"
        assert client.post("/settings", data=form).status_code == 303
        refused = client.post("/settings", data={**form, "m": "2"})
        assert refused.status_code == 409
        assert "rank server" in refused.text
        asked = len(server.asked)
        client.post("/draft", data={"text": "heroin"})
        assert client.get("/draft").status_code == 200
        assert client.get(f"/topic?name={TOPIC}").status_code == 200
    assert len(server.asked) == asked


def test_what_cannot_be_compared_is_refused() -> None:
    catalogue = Community.demo().catalogue
    with pytest.raises(InputError, match="no histogram"):
        ask(Server(description(), []), (), catalogue)
    even = Buckets.even(-1, 1, 20)
    two = (RankedTopic(TOPIC, "bow-t", even), RankedTopic("pregnancy", "bow", even))
    with pytest.raises(InputError, match="all topics by the same measure"):
        ask(Server(description(topics=two), []), (), catalogue)


def test_who_may_report_can_begin_where_nobody_has(tmp_path: Path) -> None:
    comparison = ask(Server(description(), []), (), Community.demo().catalogue, unpublished=True)
    with served(tmp_path, comparison=comparison) as client:
        client.post("/start/paste", data={"posts": POSTS})
        for page in ("/standing", f"/topic?name={TOPIC}"):
            text = client.get(page).text
            assert "obody else" in text
            assert "place 1" not in text
        overview = client.get("/standing").text
        assert "not in the first" not in overview
        assert "for no sensitive topic" not in overview, "nobody knows"
        client.post("/draft", data={"text": "heroin"})
        assert client.get("/draft").status_code == 200


def test_what_a_histogram_leaves_open_is_neither_stated_nor_denied(tmp_path: Path) -> None:
    described = description(mode="noise", epsilon=Fraction(1, 10))
    few = Published(TOPIC, 7, described.version, 200, (10.0,) * 20)
    comparison = ask(Server(described, [few]), (), Community.demo().catalogue)
    with served(tmp_path, comparison=comparison) as client:
        client.post("/start/paste", data={"posts": POSTS})
        (one,) = client.person.standings()
        assert (one.best_band, one.band) == ("top 1%", "lower half")
        overview = client.get("/standing").text
        assert "cannot be told" in overview
        assert "too little is known of the others to say" in overview
        assert "No sign of any" not in overview
        text = client.get(f"/topic?name={TOPIC}").text
        assert "nobody can tell which band that is" in text
        assert "Speaking openly can be worth it" not in text
        assert (
            "among those least exposed."
            not in text.partition("Too little is known of the others to say more")[0]
        )


def test_topics_that_differ_in_how_many_are_known_say_how_many_each(tmp_path: Path) -> None:
    topics = tuple(
        RankedTopic(name, "bow-t", Buckets.even(-1, 1, 20)) for name in (TOPIC, "pregnancy")
    )
    described = description(topics=topics)

    class TwoTopics(Server):
        def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
            if "pregnancy" not in path:
                return super().call(method, path, body)
            if path.endswith("/pregnancy"):
                return {"topic": "pregnancy", "periods": [7]}
            counts = [90] * 20
            return Published.of_opened(described, "pregnancy", 7, sum(counts), counts).record()

    comparison = ask(TwoTopics(described, [published(described)]), (), Community.demo().catalogue)
    with served(tmp_path, comparison=comparison) as client:
        client.post("/start/paste", data={"posts": "2024-03-20 heroin\n\n2024-03-21 pregnant"})
        overview = client.get("/standing").text
    assert "of 2,101" in overview
    assert "of 1,801" in overview
