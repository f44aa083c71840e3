"""An export is read and cleaned on the page as ``assess`` does it, and the page says so."""

import re
import tempfile
from html import unescape
from pathlib import Path

import pytest
from support.advisor_page import PageClient
from support.forum_export import QUOTER, write_export

from sottovoce import assess_posts
from sottovoce.advisor import AdvisorSetting
from sottovoce.cli.advise import _of_posts
from sottovoce.topics.shipped.rules import shipped_catalogue

ROWS = 500


def bring(client: PageClient, name: str, content: bytes, **fields: str) -> str:
    """Upload a file, and the page that comes next."""
    answer = client.upload(name, content, **fields)
    if answer.status_code == 303:
        answer = client.get(answer.headers["location"])
    assert answer.status_code == 200
    return unescape(answer.text)


@pytest.mark.filterwarnings("ignore:taken from the file")
def test_who_only_quotes_others_says_nothing_outright_and_ranks_as_assess_ranks_them(
    client: PageClient, tmp_path: Path
) -> None:
    path = tmp_path / "export.csv"
    export = write_export(path, ROWS)
    who = bring(client, path.name, path.read_bytes(), holds="community")
    deleted = sum(row[1] == "[deleted]" for row in export.rows)
    authors = {row[1] for row in export.rows} - {"[deleted]"}
    assert f"{ROWS - deleted} posts of {len(authors)} people" in who
    assert f"{deleted} posts of deleted or anonymous authors" in who
    assert "[deleted]" not in who
    assert client.post("/start/who", data={"user": QUOTER}).headers["location"] == "/standing"
    page = unescape(client.get("/standing").text)
    assert "outright</span>" not in page, "no chip says that posts say it outright"
    assert re.search(r"quotes in \d+ posts", page)
    assert "&lt;p&gt;" not in page
    mine = client.person.standing("depression")
    ranking = assess_posts(path, measures=mine.measure, topic="depression")
    rows = ranking.select(mine.measure, "depression").to_pylist()
    (ranked,) = [row for row in rows if row["user"] == QUOTER]
    assert mine.users == len(authors)
    assert (mine.low or 0) <= ranked["rank"] <= (mine.high or 0)


def test_a_quote_among_pasted_posts_is_not_the_authors(client: PageClient) -> None:
    posts = "2024-03-01\n> I am addicted to heroin\nPoor you.\n\n2024-03-02 I bake bread."
    client.post("/start/paste", data={"posts": posts})
    page = unescape(client.get("/standing").text)
    assert "quotes in 1 post." in page
    assert "outright</span>" not in page
    quoted = client.post("/api/draft", json={"text": "> I am addicted to heroin\nPoor you."}).json()
    assert quoted["rows"] == []
    alone = client.post("/api/draft", json={"text": "> I am addicted to heroin"}).json()
    assert "no words of your own" in alone["summary"]
    said = client.post("/api/draft", json={"text": "I am addicted to heroin"}).json()
    assert "drug addiction" in [row["topic"] for row in said["rows"]]


def test_a_community_from_the_command_line_is_read_and_cleaned_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "export.csv"
    export = write_export(path, ROWS)
    community = _of_posts(path, None, shipped_catalogue()).community(AdvisorSetting())
    assert set(community.users) == {row[1] for row in export.rows} - {"[deleted]"}
    assert all(not post.text for post in community.posts_of(QUOTER))
    told = capsys.readouterr().err
    assert "user = author" in told
    assert "quotes in" in told


EXPORT = b"id,author,created_at,body\n1,ann,2024-01-01,rehab relapse\n2,bob,2024-01-02,heroin\n"


def test_columns_with_clear_names_are_read_said_and_can_be_changed(
    client: PageClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    who = bring(client, "posts.csv", EXPORT, holds="community")
    said = "the file was read: who wrote it: author; when: created_at; the text: body."
    assert said in who
    assert 'href="/start/columns"' in who
    menus = client.get("/start/columns").text
    assert "did not work" not in menus
    assert "one lies there now" in menus
    client.post("/start/who", data={"user": "ann"})
    assert list(tmp_path.glob("sottovoce-*")) == [], "chosen, and gone from the disk"
    assert said in unescape(client.get("/standing").text)
    mine = bring(client, "posts.csv", EXPORT)
    assert "the file was read: when: created_at; the text: body." in mine
    assert "Which column is which?" in bring(client, "posts.csv", EXPORT, ask="yes")


@pytest.mark.parametrize(
    ("content", "question"),
    [
        (b"a,created_at,b\nann,2024-01-01,two words\nbob,2024-01-02,or three words\n", "no column"),
        (b"author,created_at,body\nann,03/04/2024,rehab\nbob,05/06/2024,heroin\n", "day first or"),
    ],
)
def test_what_is_unclear_is_a_question_and_no_failure(
    client: PageClient, content: bytes, question: str
) -> None:
    page = bring(client, "posts.csv", content, holds="community")
    assert "Which column is which?" in page
    assert question in page.lower()
    assert "did not work" not in page
    assert "--" not in page.split("<main")[1]


def test_the_order_of_day_and_month_can_be_told(client: PageClient) -> None:
    content = b"author,created_at,body\nann,03/04/2024,rehab\nann,05/06/2024,heroin relapse\n"
    bring(client, "posts.csv", content)
    form = {"time": "1", "text": "2", "dates": "day-first"}
    assert client.post("/start/columns", data=form).headers["location"] == "/standing"
    found = client.person.evidence("drug addiction").posts
    assert {str(post.time.date()) for post in found} == {"2024-04-03", "2024-06-05"}


def test_every_page_says_what_lies_where(steady: PageClient) -> None:
    for path in ("/start", "/alerts"):
        foot = unescape(steady.get(path).text).split("<footer")[1]
        assert "advise.sqlite" in foot
        assert "names of topics" in foot
        assert "private folder" in foot
