"""The demo: the whole product on a simulated community, ending in a report."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
# As in the assess part, so that a persona has one colour on the whole page.
PERSONA_ORDER = ("afflicted", "supporter", "curious", "professional", "bystander")

Sections = tuple[Section, ...]


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

    def optional(title: str, part: Callable[[SimulatedCommunity, str], Sections]) -> Sections:
        say_step(title[0].lower() + title[1:])
        try:
            return part(community, _demo_command(parameters))
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
            _count(community),
            *optional("Who stands out", _assess),
            *optional("What a release promises and costs", _release),
            *optional("How four train one classifier and keep their texts", _learn),
            *optional("Assess, release, assess again", _loop),
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


def _count(community: SimulatedCommunity) -> Section:
    found = counting_baselines(community)
    return counting_section(
        salient_words_by_persona(community),
        {
            "salient words": found.salient_words,
            "words": found.words,
            "posts": found.posts,
            "chance": found.chance,
        },
        command=_demo_command(community.parameters),
    )


def _assess(community: SimulatedCommunity, command: str) -> Sections:
    try:
        from sottovoce.demo._assess import assess_sections  # noqa: PLC0415 - may be missing
    except ModuleNotFoundError as error:
        raise MissingExtraError.of_import(error, "all") from None
    return assess_sections(community, command=command)


def _release(community: SimulatedCommunity, command: str) -> Sections:
    try:
        from sottovoce.demo._release import release_section  # noqa: PLC0415 - may be missing
    except ModuleNotFoundError as error:
        raise MissingExtraError.of_import(error, "all") from None
    return (release_section(community, command=command),)


def _loop(community: SimulatedCommunity, command: str) -> Sections:
    try:
        from sottovoce.demo._loop import loop_section  # noqa: PLC0415 - may be missing
    except ModuleNotFoundError as error:
        raise MissingExtraError.of_import(error, "all") from None
    return (loop_section(community, command=command),)


def _learn(community: SimulatedCommunity, command: str) -> Sections:
    try:
        from sottovoce.demo._learn import learn_section  # noqa: PLC0415 - may be missing
    except ModuleNotFoundError as error:
        raise MissingExtraError.of_import(error, "all") from None
    return (learn_section(community, command=command),)


def _demo_command(parameters: SimulationParameters) -> str:
    sizes = f"--users {parameters.users} --weeks {parameters.weeks} --seed {parameters.seed}"
    return f"sottovoce demo {sizes}"


def salient_words_by_persona(community: SimulatedCommunity) -> dict[str, list[float]]:
    # The truth has a row for each user and topic, the counts a column for each user.
    counts = salient_words_by_user(community).T.ravel()
    personas = np.asarray(community.truth["persona"])
    return {name: counts[personas == name].tolist() for name in PERSONA_ORDER}
