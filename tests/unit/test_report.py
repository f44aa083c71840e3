"""Reports stand alone."""

import re
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from sottovoce.corpus.summary import PostsSummary
from sottovoce.report.community import community_section, counting_section, word_frequency_plot
from sottovoce.report.page import Report, Section, as_svg, new_figure

SUMMARY = PostsSummary(
    users=3,
    posts=10,
    words=50,
    posts_by_week={date(2024, 1, 1): 4, date(2024, 1, 8): 6},
    posts_per_user=(1, 2, 3, 4, 4, 4),
    words_per_post=(0, 2, 5, 7, 9, 12),
)


def report(*sections: Section) -> Report:
    return Report(title="A <b>title", summary="What & why", sections=sections, version="1.2.3")


def test_a_report_escapes_what_it_is_given() -> None:
    page = report(Section("One & two", ("<script>alert(1)</script>",), {"<i>": "</dl>"})).html()
    assert "<script" not in page
    assert "A &lt;b&gt;title" in page
    assert 'href="#one-two">One &amp; two<' in page


def test_a_report_asks_nothing_of_any_network() -> None:
    page = report(community_section(SUMMARY, np.array([30, 15, 4, 1]), command="again")).html()
    assert "default-src 'none'" in page
    addresses = set(re.findall(r'(?:src|href)="([^"]*)"', page))
    assert all(address.startswith("#") for address in addresses)
    assert "url(http" not in page
    assert page.count("<svg") == 2


def test_findings_state_what_the_numbers_say() -> None:
    introduced = community_section(SUMMARY, np.array([30, 15, 4, 1]), command="again")
    assert introduced.plots[0].finding == "A week holds between 4 and 6 posts, 5 on average."
    assert "100% of all text, and 25% of the different words" in introduced.plots[1].finding
    counted = counting_section(
        {"afflicted": [3, 4], "bystander": [0, 1]},
        {"salient words": 0.25, "posts": 0.05, "chance": 0.03},
        command="again",
    )
    expected = "The best count, salient words, gives 25% of its top places to people concerned; "
    assert counted.plots[0].finding == expected + "chance would give 3%."
    assert counted.plots[0].description.endswith("medians: afflicted 3.5, bystander 0.5.")


def test_word_frequencies_are_drawn_from_the_most_frequent_down() -> None:
    frequencies = np.array([1] * 150 + [1000])
    plot = word_frequency_plot(frequencies)
    (line,) = plot.figure.axes[0].lines
    assert line.get_ydata()[0] == 1000  # type: ignore[index] # an array
    assert plot.finding.startswith("The 100 most frequent words make up 96% of all text")


def test_the_same_figure_gives_the_same_picture() -> None:
    def draw() -> str:
        figure, axes = new_figure()
        axes.plot([1, 2, 3])
        return as_svg(figure)

    assert draw() == draw()


def test_a_report_is_saved_whole(tmp_path: Path) -> None:
    report(Section("Part")).save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report(Section("Part")).html()
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("name", ["matplotlib", "jinja2"])
def test_figures_and_pages_come_with_an_extra_only(name: str) -> None:
    pyproject = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    base = pyproject[pyproject.index("dependencies = [") : pyproject.index("[project.optional")]
    assert name not in base
