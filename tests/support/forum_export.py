"""A forum's export as programs write one: id, author, created_at, subject, body.

Bodies hold HTML, entities, addresses, quotes and signatures; some authors are deleted. All of it is
made up, of the sentences of the demo community.
"""

import csv
import html
import random
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from sottovoce.advisor._demo import demo_posts
from sottovoce.topics.shipped.rules import shipped_catalogue

QUOTER = "quoting_quinn"
"""Writes nothing but quotes of others' posts about depression."""
FEW_TOPICS = ["depression", "anxiety", "debt"]
MANY_ROWS = 10_000
NAMES = ("id", "author", "created_at", "subject", "body")
SUBJECTS = (
    "Weekend plans",
    "How are you all doing?",
    "Tips wanted",
    "Long day",
    "The usual thread",
    "Questions, questions",
    "Good news",
    "Help",
)


@dataclass(frozen=True)
class ForumExport:
    """Rows as text, and who is worth asking about."""

    rows: tuple[tuple[str, str, str, str, str], ...]
    afflicted: tuple[str, ...]
    """Authors who write about a depression of their own."""


@cache
def forum_rows(rows: int = 2000, seed: int = 0) -> ForumExport:
    """So many posts of a made-up forum, the same each time."""
    rng, threads = random.Random(seed), max(2, rows // 200)
    topics = [topic.name for topic in shipped_catalogue()]
    # A small forum that spoke of everything would say too little of anything.
    topics = FEW_TOPICS if rows < MANY_ROWS else topics
    now = datetime(2025, 3, 3, tzinfo=UTC)
    held = demo_posts(topics, now, users=max(150, rows // 12), weeks=40, seed=seed)
    posts = held.posts.to_pylist()
    rng.shuffle(posts)
    posts = sorted(posts[:rows], key=lambda post: str(post["time"]))
    written = [dict(post) for post in posts]
    afflicted = tuple(user for topic, user in held.afflicted if topic == "depression")
    sad = [post["text"] for post in posts if post["user"] in afflicted]
    for post in written:
        if rng.random() < 0.05:
            post["user"] = "[deleted]"
    for post in rng.sample(written, max(3, rows // 400)):
        post["user"], post["text"] = QUOTER, f"[quote]{rng.choice(sad or ['x'])}[/quote]"
    dressed = tuple(
        (
            str(number),
            str(post["user"]),
            post["time"].strftime("%Y-%m-%d %H:%M:%S"),
            f"{rng.choice(('', 'Re: '))}{rng.choice(SUBJECTS)} ({rng.randint(1, threads)})",
            post["text"] if post["user"] == QUOTER else _dressed(str(post["text"]), sad, rng),
        )
        for number, post in enumerate(written, start=1)
    )
    return ForumExport(dressed, afflicted)


def write_export(path: Path, rows: int = 2000, seed: int = 0, **how: str) -> ForumExport:
    """The same as a CSV file; ``how``: ``delimiter``, ``encoding``."""
    export = forum_rows(rows, seed)
    with path.open("w", newline="", encoding=how.get("encoding", "utf-8")) as file:
        writer = csv.writer(file, delimiter=how.get("delimiter", ","))
        writer.writerow(NAMES)
        writer.writerows(export.rows)
    return export


def _dressed(text: str, others: list[str], rng: random.Random) -> str:
    """A text as a forum's program stores it."""
    body = html.escape(text, quote=True)
    if rng.random() < 0.4:
        body = f"<p>{body}</p>"
    if rng.random() < 0.2:
        body += "<br />see https://example.org/a?utm_source=forum&amp;utm_medium=post"
    if rng.random() < 0.15:
        body = body.replace(" ", "&nbsp;", 1)
    if rng.random() < 0.1 and others:
        quoted = html.escape(rng.choice(others))
        body = f"<blockquote>somebody wrote:<br>{quoted}</blockquote>\n{body}"
    if rng.random() < 0.1:
        body += "\n-- \nAnna, gardener by trade\nsent from the shed"
    return body
