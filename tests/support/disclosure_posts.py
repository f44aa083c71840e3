"""The posts of ours that say something outright of their author, or do not."""

import json
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "posts"
FRESH = "disclosures-fresh.jsonl"
JUDGED = "disclosures-judged.jsonl"
OPEN = "disclosures-open.jsonl"


class DisclosurePost(NamedTuple):
    """A post, its topic and form, and whether it says of its author that the topic applies."""

    id: str
    topic: str
    kind: str
    outright: bool
    text: str


def disclosure_posts(name: str) -> list[DisclosurePost]:
    """Read a file of posts as its README describes them; another field is an error."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [DisclosurePost(**json.loads(line)) for line in lines]
