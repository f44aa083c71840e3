"""Where a loop finds its topics."""

from pathlib import Path

from sottovoce.loop.subject import SubjectSources
from sottovoce.topics import Catalogue, shipped_catalogue


def test_posts_without_topics_take_the_shipped_ones(tmp_path: Path) -> None:
    posts = tmp_path / "posts.csv"
    posts.write_text("user,time,text\n", encoding="utf-8")
    topics = SubjectSources.find(posts).topics
    assert isinstance(topics, Catalogue)
    assert [topic.name for topic in topics] == [topic.name for topic in shipped_catalogue()]
    assert SubjectSources.find(posts, topics="own.toml").topics == "own.toml"
