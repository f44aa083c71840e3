"""A simulated community on disk: four files, written all or none."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sottovoce._toml import toml_table
from sottovoce.corpus.simulate.community import CatalogueTopic, SimulatedCommunity, draw_community
from sottovoce.corpus.simulate.parameters import SimulationParameters, difficulty_named
from sottovoce.files import output_folder, whole_file

POSTS_FILE = "posts.parquet"
TRUTH_FILE = "truth.parquet"
BACKGROUND_FILE = "background.parquet"
TOPICS_FILE = "topics.toml"


@dataclass(frozen=True)
class CommunitySummary:
    """What was written, in numbers; ``personas`` counts users by role over all topics."""

    folder: Path
    users: int
    weeks: int
    posts: int
    background_documents: int
    topics: int
    sensitive_topics: tuple[str, ...]
    personas: dict[str, int]


def simulate(
    parameters: SimulationParameters = SimulationParameters(),  # noqa: B008 - frozen
    *,
    folder: str | PathLike[str] | None = None,
    **changes: Any,  # noqa: ANN401 - each field of SimulationParameters has its type there
) -> SimulatedCommunity:
    """A simulated community with known personas; equal parameters give equal communities.

    What ``sottovoce simulate`` does. ``changes`` are fields of `SimulationParameters`: users,
    weeks, seed, difficulty (its name will do), control and more. With a ``folder`` it is written
    there too: posts.parquet, truth.parquet, background.parquet and topics.toml.

    >>> import sottovoce as sv
    >>> sv.simulate(users=60, weeks=2, seed=7, difficulty="easy", background_documents=10)
    SimulatedCommunity(users=60, posts=156, background_documents=10, topics=46)
    """
    if isinstance(named := changes.get("difficulty"), str):
        changes["difficulty"] = difficulty_named(named)
    community = draw_community(replace(parameters, **changes))
    if folder is not None:
        write_files(Path(folder), community)
    return community


def write_community(folder: Path, parameters: SimulationParameters) -> CommunitySummary:
    """Simulate a community and write it into ``folder``."""
    community = draw_community(parameters)
    write_files(folder, community)
    return _summary(folder, community)


def write_files(folder: Path, community: SimulatedCommunity) -> None:
    """Write the four files of a community.

    All are finished under temporary names before the first gets its final name.
    """
    output_folder(folder)
    with ExitStack() as staged:
        posts = staged.enter_context(whole_file(folder / POSTS_FILE))
        truth = staged.enter_context(whole_file(folder / TRUTH_FILE, private=True))
        background = staged.enter_context(whole_file(folder / BACKGROUND_FILE))
        topics = staged.enter_context(whole_file(folder / TOPICS_FILE))
        pq.write_table(community.posts, posts, compression="zstd")
        pq.write_table(community.truth, truth, compression="zstd")
        pq.write_table(community.background, background, compression="zstd")
        topics.write_text(topics_toml(community.topics), encoding="utf-8")


def topics_toml(topics: Iterable[CatalogueTopic]) -> str:
    """Return the catalogue as TOML: an array of tables ``topic``."""
    tables = [toml_table("[[topic]]", asdict(topic), word_a_line=True) for topic in topics]
    return "\n".join(tables)


def _summary(folder: Path, community: SimulatedCommunity) -> CommunitySummary:
    parameters = community.parameters
    topics = parameters.sensitive_topics
    roles = {role: count * len(topics) for role, count in parameters.role_counts.items()}
    return CommunitySummary(
        folder=folder,
        users=parameters.users,
        weeks=parameters.weeks,
        posts=community.posts.num_rows,
        background_documents=community.background.num_rows,
        topics=len(community.topics),
        sensitive_topics=topics,
        personas={**roles, "bystander": parameters.users - sum(roles.values())},
    )
