"""The part of a report that introduces a community."""

from collections.abc import Mapping, Sequence
from datetime import date

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus.summary import QUANTILES, PostsSummary
from sottovoce.report.page import ACCENT, COLOURS, Plot, Section, new_figure

_NOBODY = (
    "Everything in this report is about people who do not exist: a simulated community with known "
    "personas, so that every claim can be checked against the truth."
)
_WHY_COUNTING_FAILS = (
    "Suppose an adversary looks for the people whom a sensitive topic really concerns, and simply "
    "counts. People who help, work in the field or are curious for a week use the topic's salient "
    "words as well, and those whom it concerns often do not name it."
)


def community_section(
    summary: PostsSummary, frequencies: NDArray[np.int64], *, command: str
) -> Section:
    """How large and how lively the community is, and how its words are distributed."""
    return Section(
        title="The community",
        paragraphs=(_NOBODY,),
        facts={
            "People": f"{summary.users:,}",
            "Posts": f"{summary.posts:,} in {len(summary.posts_by_week)} weeks",
            "Words": f"{summary.words:,}, {frequencies.size:,} different ones",
            "Posts a person": _span(summary.posts_per_user),
            "Words a post": _span(summary.words_per_post),
        },
        plots=(posts_by_week_plot(summary.posts_by_week), word_frequency_plot(frequencies)),
        command=command,
    )


def posts_by_week_plot(posts_by_week: Mapping[date, int]) -> Plot:
    """How many posts each week holds."""
    figure, axes = new_figure(height=2.6)
    numbers = list(posts_by_week.values())
    axes.bar(range(1, len(numbers) + 1), numbers, color=ACCENT)
    axes.set_xlabel("week")
    axes.set_ylabel("posts")
    finding = (
        f"A week holds between {min(numbers):,} and {max(numbers):,} posts, "
        f"{np.mean(numbers):,.0f} on average."
    )
    return Plot(figure, finding, f"Bars: posts in each of {len(numbers)} weeks. {finding}")


def word_frequency_plot(frequencies: NDArray[np.int64]) -> Plot:
    """How often the most frequent word occurs, the second, and so on, on two log scales."""
    ordered = np.sort(frequencies)[::-1]
    rank = np.arange(1, ordered.size + 1)
    figure, axes = new_figure(height=3.0)
    axes.loglog(rank, ordered, color=ACCENT)
    axes.set_xlabel("rank of the word")
    axes.set_ylabel("occurrences")
    share = ordered[:100].sum() / ordered.sum()
    once = np.count_nonzero(ordered == 1) / ordered.size
    finding = (
        f"The 100 most frequent words make up {share:.0%} of all text, "
        f"and {once:.0%} of the different words occur only once."
    )
    return Plot(figure, finding, f"A falling line on logarithmic scales. {finding}")


def counting_section(
    salient_words: Mapping[str, Sequence[float]], found: Mapping[str, float], *, command: str
) -> Section:
    """How far counting goes: the reason for everything that follows.

    ``found`` is the R-precision of each way to count, and of chance.
    """
    return Section(
        title="What counting finds",
        paragraphs=(_WHY_COUNTING_FAILS,),
        facts={
            f"Ranking by {name}": f"{share:.0%} of its top places go to people concerned"
            for name, share in found.items()
        },
        plots=(salient_words_plot(salient_words, found),),
        command=command,
    )


def salient_words_plot(
    salient_words: Mapping[str, Sequence[float]], found: Mapping[str, float]
) -> Plot:
    """The spread of salient words a person uses, for each persona."""
    figure, axes = new_figure(height=2.8)
    names = list(salient_words)
    boxes = axes.boxplot(
        [np.asarray(salient_words[name]) + 1 for name in names],
        orientation="horizontal",
        whis=(5, 95),
        showfliers=False,
        patch_artist=True,
        medianprops={"color": "white"},
        tick_labels=names,
    )
    for box, colour in zip(boxes["boxes"], COLOURS, strict=False):
        box.set_facecolor(colour)
    axes.set_xscale("log")
    axes.set_xlabel("salient words of the topic that a person used, plus one (5% to 95%)")
    axes.invert_yaxis()
    best, share = max(found.items(), key=lambda item: item[1])
    finding = (
        f"The best count, {best}, gives {share:.0%} of its top places to people concerned; "
        f"chance would give {found['chance']:.0%}."
    )
    medians = ", ".join(f"{name} {np.median(salient_words[name]):g}" for name in names)
    return Plot(figure, finding, f"Boxes of salient words by persona; medians: {medians}.")


def _span(quantiles: Sequence[float]) -> str:
    by_share = dict(zip(QUANTILES, quantiles, strict=True))
    return (
        f"{by_share[0.5]:,.0f} in the middle, {by_share[0.0]:,.0f} to {by_share[1.0]:,.0f} in all"
    )
