"""What posts say of a topic, whatever others write: the signal that stands beside the rank.

A rank tells how soon somebody who orders everybody comes to a person. What a post says outright it
says to each of its readers, and no crowd hides it.
"""

from dataclasses import dataclass
from functools import cached_property

from sottovoce.advisor.person_values import Post
from sottovoce.assess.disclosure.disclosures import DisclosureReader
from sottovoce.assess.disclosure.levels import Disclosure, DisclosureLevel


@dataclass(frozen=True)
class TopicSaid:
    """What a person's posts say of one topic, and how much was read to find it.

    ``outright``: the ids of posts that say it of their author; ``about``: those that speak of the
    topic without saying so; both in the order of their times.
    """

    topic: str
    outright: tuple[int, ...]
    about: tuple[int, ...]
    posts: int
    words: int

    @property
    def level(self) -> DisclosureLevel:
        """How plainly the plainest post speaks."""
        if self.outright:
            return DisclosureLevel.OUTRIGHT
        return DisclosureLevel.ABOUT if self.about else DisclosureLevel.NONE


@dataclass(frozen=True, eq=False)
class SaidByPosts:
    """What each of some posts says of each topic of a catalogue; read when it is first asked."""

    reader: DisclosureReader
    posts: tuple[Post, ...]

    @cached_property
    def _by_post(self) -> dict[int, dict[str, Disclosure]]:
        found = {post.id: self.reader.read(post.text) for post in self.posts}
        return {number: {each.topic: each for each in told} for number, told in found.items()}

    def only(self, posts: tuple[Post, ...]) -> "SaidByPosts":
        """The same of some of the posts, nothing read again."""
        fewer = SaidByPosts(self.reader, posts)
        fewer.__dict__["_by_post"] = {post.id: self._by_post[post.id] for post in posts}
        return fewer

    @cached_property
    def words(self) -> int:
        """How many words were read."""
        return sum(len(post.text.split()) for post in self.posts)

    def of_post(self, number: int, topic: str) -> Disclosure | None:
        """What one post says of a topic; None where it has no word of it."""
        return self._by_post[number].get(topic)

    def of_topic(self, topic: str) -> TopicSaid:
        """What all of them say of a topic."""
        told = [
            (number, each[topic].level) for number, each in self._by_post.items() if topic in each
        ]
        outright = tuple(number for number, level in told if level is DisclosureLevel.OUTRIGHT)
        about = tuple(number for number, level in told if level is DisclosureLevel.ABOUT)
        return TopicSaid(topic, outright, about, len(self.posts), self.words)
