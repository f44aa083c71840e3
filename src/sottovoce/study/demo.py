"""The demo: the whole product on a simulated community, ending in a report."""

from pathlib import Path

import numpy as np

import sottovoce
from sottovoce.corpus.counting import term_statistics
from sottovoce.corpus.reading import open_posts
from sottovoce.corpus.simulate import Community, SimulationParameters, simulate, write_files
from sottovoce.corpus.simulate.counting import counting_baselines, salient_words_by_user
from sottovoce.corpus.summary import summarise_posts
from sottovoce.files import output_folder
from sottovoce.report.community import community_section, counting_section
from sottovoce.report.page import Report, Section
from sottovoce.study.demo_release import release_section

REPORT_FILE = "report.html"
COMMUNITY_FOLDER = "community"


def run_demo(folder: Path, parameters: SimulationParameters) -> Path:
    """Write the community and the report into ``folder``; return the report's path."""
    community = simulate(parameters)
    write_files(output_folder(folder) / COMMUNITY_FOLDER, community)
    report = Report(
        title="Sottovoce: a first look",
        summary=(
            "A community of people who do not exist: what they write, what counting finds, and "
            "what a private release of word counts promises and costs."
        ),
        sections=(
            _introduced(folder, parameters),
            _counted(community),
            release_section(community, command=_demo_command(parameters)),
        ),
        version=sottovoce.__version__,
    )
    report.save(folder / REPORT_FILE)
    return folder / REPORT_FILE


def _introduced(folder: Path, parameters: SimulationParameters) -> Section:
    posts = open_posts(folder / COMMUNITY_FOLDER / "posts.parquet")
    summary = summarise_posts(posts)
    statistics = term_statistics(batch["text"] for batch in posts)
    command = (
        f"sottovoce simulate community --users {parameters.users} --weeks {parameters.weeks} "
        f"--seed {parameters.seed} && sottovoce describe community/posts.parquet"
    )
    return community_section(summary, statistics.occurrences, command=command)


def _counted(community: Community) -> Section:
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


def _demo_command(parameters: SimulationParameters) -> str:
    sizes = f"--users {parameters.users} --weeks {parameters.weeks} --seed {parameters.seed}"
    return f"sottovoce demo {sizes}"


def salient_words_by_persona(community: Community) -> dict[str, list[float]]:
    # The truth has a row for each user and topic, the counts a column for each user.
    counts = salient_words_by_user(community).T.ravel()
    personas = np.asarray(community.truth["persona"])
    order = ("afflicted", "supporter", "professional", "curious", "bystander")
    return {name: counts[personas == name].tolist() for name in order}
