"""R-Susceptibility, section 5.4: other parameters, another space, another background corpus.

The other backgrounds are other texts for an adversary to learn from: another draw, a tenth of the
texts, and real public texts where they are at hand.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from sottovoce.assess.measures.catalogue import PAPER_METHODS
from sottovoce.assess.setting import Setting
from sottovoce.corpus.read.corpus import open_documents
from sottovoce.errors import NothingFitsError
from sottovoce.loop.adversary import Knowledge, train_knowledge
from sottovoce.loop.subject import DEFAULT, simulated_catalogue, simulated_community
from sottovoce.report.figures import legend_below, new_panels
from sottovoce.report.page import Plot
from sottovoce.report.result import Row, StudyResult, number
from sottovoce_lab._data import DataAbsentError, data_file
from sottovoce_lab.assess.experiment import (
    SETTING,
    AssessStudySizes,
    captured,
    is_own,
    notes_for,
    scored_communities,
    size_columns,
    sizes_for,
)
from sottovoce_lab.assess.outcomes import (
    SPACES,
    CommunityOutcome,
    ScoredCommunity,
    gain_columns,
    judged_outcome,
    metric_columns,
    outcome,
    score_community,
    strength_of,
)
from sottovoce_lab.assess.plots import draw_line
from sottovoce_lab.communities import draw_community
from sottovoce_lab.options import StudyOptions

SHARES = tuple(tenth / 10 for tenth in range(1, 11))
BUCKETS = tuple(range(1, 13))
TOPICAL = tuple(name for name in PAPER_METHODS if name.partition("-")[0] in SPACES)
LATENT = ("lda", "lda-d", "lda-t", "lda-dt")
ENDINGS = {"k": ("-d", "-dt"), "m": ("-t", "-dt")}
"""The measures that each parameter changes."""
LOWER_HALF = {"k": SHARES[:5], "m": BUCKETS[:6]}
SHOWN = ("change", "value", "measure", "r_precision_micro", "ndcg", "ndcg_gain", "paper")
WIDE = ("topics", "r_precision_macro", "map", "map_gain", "precision_at_5")
PAPER = {
    "k": "better than strength in the lower half, worse when high",
    "m": "better than strength in the lower half, worse when high",
    "space": "latent spaces alike, and above bow",
    "background": "similar trends for topics that it has",
}

PUBLIC_FILE = "background.parquet"
PUBLIC_ABSENT = (
    f"{PUBLIC_FILE} is not among the data sets, so that no background of real texts was tried."
)
OTHER_DRAW, TENTH, PUBLIC = "another draw", "a tenth of it", "public texts"
# Seeds of communities are small numbers, so no community has this background.
_FAR = 1_000_000

Learner = Callable[[int], Knowledge]
"""What an adversary of a seed knows."""
Key = tuple[str, str, str]
"""What was changed, to which value, and the measure."""


@dataclass(frozen=True, eq=False)
class Changed:
    """One community under one change."""

    change: str
    value: str
    outcome: CommunityOutcome

    @property
    def measures(self) -> list[str]:
        """The measures that the change concerns."""
        names = [name for name in self.outcome.runs if name in TOPICAL]
        endings = ENDINGS.get(self.change)
        return names if endings is None else [name for name in names if name.endswith(endings)]


def run_robustness(options: StudyOptions) -> StudyResult:
    """R-Susceptibility, Section 5.4: k from 0.1 to 1, m from 1 to 12, other spaces and corpora.

    The paper prints no numbers here, only what it saw.
    """
    sizes = sizes_for(options, AssessStudySizes(levels=(DEFAULT,), seeds=3))
    found: dict[Key, list[CommunityOutcome]] = {}
    for changed in _changes(options, sizes):
        for measure in changed.measures:
            key = (changed.change, changed.value, measure)
            found.setdefault(key, []).append(changed.outcome)
    rows = tuple(_row(options, sizes, key, outcomes) for key, outcomes in found.items())
    absent = () if is_own(options) or has_public_texts() else (PUBLIC_ABSENT,)
    notes = (*notes_for(options, sizes), *_findings(rows), *absent)
    return StudyResult(rows, _plots(rows), SHOWN, notes, WIDE)


def _changes(options: StudyOptions, sizes: AssessStudySizes) -> Iterator[Changed]:
    own = is_own(options)
    learners = {} if own else other_backgrounds(sizes, public=has_public_texts())
    for seed, scored in enumerate(scored_communities(options, sizes, TOPICAL)):
        yield from _parameters(scored)
        yield Changed("space", "as it is", outcome(scored, SETTING))
        for name, learner in learners.items():
            yield from _relearnt(sizes, seed, name, learner)


def _parameters(scored: ScoredCommunity) -> Iterator[Changed]:
    for k in SHARES:
        yield Changed("k", f"{k:g}", _ranked(scored, replace(SETTING, k=k), ENDINGS["k"]))
    for m in BUCKETS:
        yield Changed("m", f"{m}", _ranked(scored, replace(SETTING, m=m), ENDINGS["m"]))


def _ranked(
    scored: ScoredCommunity, setting: Setting, endings: tuple[str, ...]
) -> CommunityOutcome:
    """Only the measures that a parameter changes, beside strength."""
    names = [name for name in scored.measures if name.endswith(endings) or name in SPACES]
    return judged_outcome(scored.community, {name: scored.scores(name, setting) for name in names})


def _relearnt(sizes: AssessStudySizes, seed: int, name: str, learner: Learner) -> Iterator[Changed]:
    """A seed's community under other background knowledge, for the topics that this has."""
    drawn = draw_community(DEFAULT, seed, users=sizes.users, weeks=sizes.weeks, background=1)
    try:
        knowledge = learner(seed)
    except NothingFitsError:
        return
    community = captured(simulated_community(drawn, DEFAULT), knowledge)
    scored = score_community(community, knowledge, LATENT)
    yield Changed("background", name, outcome(scored, SETTING))


def _row(
    options: StudyOptions, sizes: AssessStudySizes, key: Key, outcomes: Sequence[CommunityOutcome]
) -> Row:
    change, value, measure = key
    return (
        {"change": change, "value": value, "measure": measure}
        | metric_columns(outcomes, measure)
        | gain_columns(outcomes, measure, strength_of(measure))
        | size_columns(options, sizes, outcomes)
        | {
            "topics": float(np.mean([len(each.community.judged) for each in outcomes])),
            "seeds": len(outcomes),
            "paper": PAPER[change],
        }
    )


def _findings(rows: Sequence[Row]) -> list[str]:
    """What the paper saw, and whether we see it."""
    return [
        _parameter_finding(rows, change, measure)
        for change, endings in ENDINGS.items()
        for measure in TOPICAL
        if measure.endswith(endings) and any(row["measure"] == measure for row in rows)
    ]


def _parameter_finding(rows: Sequence[Row], change: str, measure: str) -> str:
    gains = {
        str(row["value"]): number(row, "ndcg_gain")
        for row in rows
        if (row["change"], row["measure"]) == (change, measure)
    }
    lower = [f"{value:g}" for value in LOWER_HALF[change]]
    better = [value for value in lower if gains[value] > 0]
    best = max(gains, key=lambda value: gains[value])
    last = list(gains)[-1]
    return (
        f"{measure}: of {change} = {lower[0]} to {lower[-1]}, {len(better)} of {len(lower)} give a "
        f"higher mean NDCG than strength; best at {best} ({gains[best]:+.3f}), at {last} "
        f"{gains[last]:+.3f}."
    )


def _plots(rows: Sequence[Row]) -> tuple[Plot, ...]:
    return tuple(_parameter_plot(rows, change) for change in ENDINGS)


def _parameter_plot(rows: Sequence[Row], change: str) -> Plot:
    own = [row for row in rows if row["change"] == change]
    measures = list(dict.fromkeys(str(row["measure"]) for row in own))
    figure, panels = new_panels(2, width=8.6, height=3.6)
    for axes, metric in zip(panels, ("r_precision_micro", "ndcg"), strict=True):
        for place, measure in enumerate(measures):
            line = [row for row in own if row["measure"] == measure]
            draw_line(axes, line, metric, place, measure)
        values = list(dict.fromkeys(str(row["value"]) for row in own))
        axes.set(title=metric.replace("_", " "), xlabel=change, xticks=range(len(values)))
        axes.set_xticklabels(values)
    legend_below(figure, 6)
    best = max(own, key=lambda row: number(row, "ndcg"))
    finding = (
        f"Over {change}, the highest mean NDCG is {number(best, 'ndcg'):.3f}: {best['measure']} at "
        f"{change} = {best['value']}."
    )
    return Plot(figure, finding, f"Lines over {change} with 95% intervals. {finding}")


def other_backgrounds(sizes: AssessStudySizes, *, public: bool) -> dict[str, Learner]:
    """Latent topics learnt from other texts than the seed's own background.

    Another draw of as many texts; a tenth of its own; real public texts (news, encyclopaedia,
    health questions), which share no more with the simulated world than the English words.
    """

    def learnt(texts: Sequence[str], seed: int) -> Knowledge:
        world = simulated_catalogue(draw_community(DEFAULT, 0, users=100, weeks=1, background=1))
        return train_knowledge(texts, world, sizes.training, seed + 1, ("lda",))

    @cache
    def from_public(_seed: int = 0) -> Knowledge:
        return learnt(public_texts(sizes.background), 0)

    found: dict[str, Learner] = {
        OTHER_DRAW: lambda seed: learnt(_drawn(sizes.background, seed + _FAR), seed),
        TENTH: lambda seed: learnt(_drawn(sizes.background, seed)[: sizes.background // 10], seed),
    }
    return found | ({PUBLIC: lambda _seed: from_public()} if public else {})


def has_public_texts() -> bool:
    """Whether the data sets are at hand."""
    try:
        data_file(PUBLIC_FILE)
    except DataAbsentError:
        return False
    return True


def public_texts(count: int) -> list[str]:
    """Texts of the public background, drawn at random but always the same."""
    texts = open_documents(data_file(PUBLIC_FILE)).read_all()["text"]
    places = np.random.default_rng(0).permutation(len(texts))[:count]
    drawn: list[str] = texts.take(np.sort(places)).to_pylist()
    return drawn


def _drawn(count: int, seed: int) -> list[str]:
    drawn = draw_community(DEFAULT, seed, users=100, weeks=1, background=count)
    texts: list[str] = drawn.background["text"].to_pylist()
    return texts
