"""What a state was made with: everything that decides whether two states can be merged."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from sottovoce.assess.buckets import Bucket
from sottovoce.errors import InputError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.space import Mode

VERSION = 1
M_KEPT = 12


@dataclass(frozen=True)
class Header:
    """How posts were scored.

    Attributes:
        catalogue: the topics, in the order of the columns.
        spaces: the fingerprint of each vector space by its name.
        salient: for each topic the columns of its words among ``words``; None: words are not kept.
        words: how many salient words there are.
        counted: fingerprint of these words and of the rules by which they are counted.
        bucket: the length of time by which posts are grouped.
        kept: how many buckets are kept for each user and topic.
        mode: in which the spaces score posts.
        posts: whether the values of each post are kept, so that single posts can be deleted.
    """

    catalogue: Catalogue
    spaces: Mapping[str, str]
    salient: Mapping[str, tuple[int, ...]] | None
    words: int
    counted: str
    bucket: Bucket
    kept: int = M_KEPT
    mode: Mode = "corrected"
    posts: bool = False

    def check_same(self, other: "Header") -> None:
        """Refuse a state that was made in another way, and say in which."""
        reasons = {
            "the topics of the catalogue": self.catalogue != other.catalogue,
            "the vector spaces": set(self.spaces) != set(other.spaces),
            "the models": dict(self.spaces) != dict(other.spaces),
            "the salient words kept": self.counted != other.counted,
            f"the time buckets ({self.bucket} and {other.bucket})": self.bucket != other.bucket,
            f"the buckets kept ({self.kept} and {other.kept})": self.kept != other.kept,
            f"the mode ({self.mode} and {other.mode})": self.mode != other.mode,
            "whether they keep posts": self.posts != other.posts,
        }
        for what, differs in reasons.items():
            if differs:
                raise InputError(f"the states do not fit together: {what} differ; score anew.")

    def to_record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        salient = None if self.salient is None else {k: list(v) for k, v in self.salient.items()}
        return {
            "catalogue": asdict(self.catalogue),
            "spaces": dict(self.spaces),
            "salient": salient,
            "words": self.words,
            "counted": self.counted,
            "bucket": str(self.bucket),
            "kept": self.kept,
            "mode": self.mode,
            "posts": self.posts,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Header":
        """What ``to_record`` gave, after a trip through JSON."""
        salient = record["salient"]
        return cls(
            catalogue=_catalogue(record["catalogue"]),
            spaces={str(name): str(mark) for name, mark in record["spaces"].items()},
            salient=None
            if salient is None
            else {str(name): tuple(map(int, places)) for name, places in salient.items()},
            words=int(record["words"]),
            counted=str(record["counted"]),
            bucket=Bucket.parse(record["bucket"]),
            kept=int(record["kept"]),
            mode=record["mode"],
            posts=bool(record["posts"]),
        )


def fingerprint_of(*parts: object) -> str:
    """SHA-256 over the parts, as JSON."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _catalogue(record: Mapping[str, Any]) -> Catalogue:
    topics = tuple(_topic(Topic(**entry)) for entry in record["topics"])
    return Catalogue(topics, record["model"])


def _topic(topic: Topic) -> Topic:
    """The same with tuples for the lists of JSON."""
    weights = None if topic.weights is None else tuple(topic.weights)
    return replace(
        topic, words=tuple(topic.words), weights=weights, dimensions=tuple(topic.dimensions)
    )
