"""The demo: the whole product on a simulated community, ending in a report."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, starmap
from pathlib import Path

import numpy as np

import sottovoce
from sottovoce.corpus.counts import term_statistics
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import (
    counting_baselines,
    salient_words_by_user,
    simulate,
    write_files,
)
from sottovoce.corpus.summary import summarise_posts
from sottovoce.errors import InputError, MissingExtraError
from sottovoce.files import output_folder
from sottovoce.report.community import community_section, counting_section
from sottovoce.report.page import Report, Section
from sottovoce.steps import say_step

REPORT_FILE = "report.html"
COMMUNITY_FOLDER = "community"
_COUNTED = ("salient_words", "words", "posts", "chance")
# As in the assess part, so that a persona has one colour on the whole page.
PERSONA_ORDER = ("afflicted", "supporter", "curious", "professional", "bystander")

PARTS = {
    "Who stands out": "_assess",
    "What a release promises and costs": "_release",
    "How four train one classifier and keep their texts": "_learn",
    "Assess, release, assess again": "_loop",
}
"""The module of each part, by the part's title."""


@dataclass(frozen=True)
class Demo:
    """Where the report is, and what it had to do without."""

    report: Path
    left_out: Mapping[str, str]
    """By the part's title, why."""


def run_demo(folder: Path, parameters: SimulationParameters) -> Demo:
    """Write the community and the report into ``folder``."""
    say_step("simulating a community")
    community = simulate(parameters)
    write_files(output_folder(folder) / COMMUNITY_FOLDER, community)
    left_out: dict[str, str] = {}

    command = _demo_command(parameters)

    def add_part(title: str, module: str) -> tuple[Section, ...]:
        say_step(title[0].lower() + title[1:])
        try:
            return make_part(module, community, command)
        except (MissingExtraError, InputError) as reason:  # not installed, or too few people
            left_out[title] = str(reason)
            return (Section(title, (f"This part was left out: {reason}",)),)

    report = Report(
        title="Sottovoce: a first look",
        summary=(
            "A community of people who do not exist: what they write, what counting finds, who "
            "stands out to an adversary and why, what a private release of word counts promises "
            "and costs, how several train one classifier and count words of texts that they keep, "
            "and how much of the exposure a release removes."
        ),
        sections=(
            _introduce(folder, parameters),
            _count(community, command),
            *chain.from_iterable(starmap(add_part, PARTS.items())),
        ),
        version=sottovoce.__version__,
    )
    report.save(folder / REPORT_FILE)
    return Demo(folder / REPORT_FILE, left_out)


def _introduce(folder: Path, parameters: SimulationParameters) -> Section:
    posts = open_posts(folder / COMMUNITY_FOLDER / "posts.parquet")
    summary = summarise_posts(posts)
    statistics = term_statistics(batch["text"] for batch in posts)
    command = (
        f"sottovoce simulate community --users {parameters.users} --weeks {parameters.weeks} "
        f"--seed {parameters.seed} && sottovoce describe community/posts.parquet"
    )
    return community_section(summary, statistics.occurrences, command=command)


def _count(community: SimulatedCommunity, command: str) -> Section:
    found = counting_baselines(community)
    return counting_section(
        salient_words_by_persona(community),
        {name.replace("_", " "): getattr(found, name) for name in _COUNTED},
        command=command,
    )


def make_part(module: str, community: SimulatedCommunity, command: str) -> tuple[Section, ...]:
    """What a module of this package says of the community; it may need what is not installed."""
    try:
        part = import_module(f"sottovoce.demo.{module}")
    except ModuleNotFoundError as error:
        raise MissingExtraError.of_import(error, "all") from None
    sections: tuple[Section, ...] = part.make_sections(community, command)
    return sections


def _demo_command(parameters: SimulationParameters) -> str:
    sizes = f"--users {parameters.users} --weeks {parameters.weeks} --seed {parameters.seed}"
    return f"sottovoce demo {sizes}"


def salient_words_by_persona(community: SimulatedCommunity) -> dict[str, list[float]]:
    # The truth has a row for each user and topic, the counts a column for each user.
    counts = salient_words_by_user(community).T.ravel()
    personas = np.asarray(community.truth["persona"])
    return {name: counts[personas == name].tolist() for name in PERSONA_ORDER}
