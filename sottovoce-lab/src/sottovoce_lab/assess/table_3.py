"""How many users the judges of profiles call sensitive, in a sample by a^score.

R-Susceptibility, Table 3.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate
from sottovoce.errors import ParameterError
from sottovoce.report.page import COLOURS, Plot, legend_below, new_figure
from sottovoce.report.result import Row, StudyResult
from sottovoce.steps import repetitions
from sottovoce.topics.judgements.agreement import fleiss_kappa
from sottovoce.topics.judgements.profiles import (
    HEALTH_FORUM_BASE,
    coded_profiles,
    judged_truth,
    sample_users,
    sensitive_users,
)
from sottovoce.topics.judgements.votes import PROFILE_JUDGES, vote_counts
from sottovoce.topics.space import BagOfWords
from sottovoce_lab._data import SIMULATED
from sottovoce_lab.assess._paper import PRINTED
from sottovoce_lab.assess._simulated_judges import profile_ballots, simulated_catalogue
from sottovoce_lab.columns import mean_columns
from sottovoce_lab.options import StudyOptions, refuse_documents, study_notes

PAPER_USERS: dict[str, list[int | None]] = PRINTED["3"]["users"]
"""As printed: AOL, health forums, Quora."""
PAPER_JUDGED: list[int] = PRINTED["3"]["judged"]
PAPER_KAPPAS: list[float] = PRINTED["3"]["kappas"]
CORRECTED_QUORA: dict[str, int] = PRINTED["3"]["corrected Quora"]
SHOWN = ("topic", "ours", "uniform", "of", "paper_aol", "paper_hf", "paper_quora")
WIDE = ("paper_quora_corrected", "paper_of")
NOTES = study_notes("assess-table-3")


@dataclass(frozen=True)
class _Judged:
    """Sensitive users by topic and in total, how many were judged, and kappa."""

    sensitive: dict[str, int]
    judged: dict[str, int]
    kappa: float | None


def run_assess_table_3(options: StudyOptions) -> StudyResult:
    """Sensitive users by majority of judges, in a sample by score.

    Table 3 on simulated communities.
    """
    refuse_documents(options, "assess-table-3")
    if options.data not in {None, SIMULATED}:
        raise ParameterError(
            "assess-table-3 has simulated judges of simulated people; leave --data out. For your "
            "own: topics judge export-profiles and import-profiles."
        )

    users, weeks = (200, 6) if options.quick else (2000, 26)

    def draw(seed: int) -> SimulatedCommunity:
        return simulate(
            SimulationParameters(users=users, weeks=weeks, seed=seed, background_documents=1)
        )

    return run(draw, options.seeds or (1 if options.quick else 5), 40 if options.quick else 100)


def run(
    draw_community: Callable[[int], SimulatedCommunity], seeds: int, users_per_topic: int
) -> StudyResult:
    """One row per topic, the total, and kappa, over the community of each seed."""
    sampled, uniform = list[_Judged](), list[_Judged]()
    for seed in repetitions(seeds):
        community = draw_community(seed)
        for judged, base in ((sampled, HEALTH_FORUM_BASE), (uniform, 1.0)):
            judged.append(_judge_profiles(community, base, seed, users_per_topic))
    rows = [_row(topic, sampled, uniform) for topic in sampled[0].sensitive]
    sizes: Row = {
        "data": SIMULATED,
        "judges": PROFILE_JUDGES,
        "base": HEALTH_FORUM_BASE,
        "seeds": seeds,
    }
    full = tuple(row | sizes for row in (*rows, _kappa_row(sampled, uniform)))
    finding = _finding(full)
    plot = Plot(_figure(full), finding, f"Shares of judged users found sensitive. {finding}")
    return StudyResult(full, (plot,), SHOWN, NOTES, WIDE)


def strengths(community: SimulatedCommunity) -> tuple[list[str], dict[str, NDArray[np.float64]]]:
    """Users, and for each sensitive topic the highest strength of any of their posts."""
    catalogue = simulated_catalogue(community.topics)
    scorer = BagOfWords().scorer(catalogue)
    posts = community.posts
    users: list[str] = pc.unique(posts["user"]).to_pylist()
    owner = np.asarray(pc.index_in(posts["user"], value_set=pc.unique(posts["user"])))
    blocks = [
        scorer.strengths(counts, threads=1)
        for counts in count_batches(posts["text"].chunks, scorer.vocabulary, scorer.rules)
    ]
    scores = np.concatenate(blocks)
    best = np.zeros((len(users), len(catalogue)))
    np.maximum.at(best, owner, scores)
    return users, {
        topic.name: best[:, catalogue.names.index(topic.name)] for topic in catalogue.sensitive
    }


def _judge_profiles(
    community: SimulatedCommunity, base: float, seed: int, users_per_topic: int
) -> _Judged:
    users, by_topic = strengths(community)
    count = min(users_per_topic, len(users))
    profiles = coded_profiles(
        (users[place], topic)
        for number, (topic, scores) in enumerate(by_topic.items())
        for place in sample_users(users, scores, count, base=base, seed=seed * 100 + number)
    )
    votes = profile_ballots(profiles, community.truth, PROFILE_JUDGES, seed)
    table = sensitive_users(judged_truth(votes, profiles))
    return _Judged(
        {str(row["topic"]): _whole(row["sensitive"]) for row in table},
        {str(row["topic"]): _whole(row["judged"]) for row in table},
        fleiss_kappa(vote_counts(votes)[1]),
    )


def _row(topic: str, sampled: Sequence[_Judged], uniform: Sequence[_Judged]) -> Row:
    aol, forums, quora = PAPER_USERS.get(topic, [None] * 3)
    return {
        "topic": topic,
        **mean_columns("ours", [float(each.sensitive[topic]) for each in sampled]),
        "uniform": float(np.mean([each.sensitive[topic] for each in uniform])),
        "of": sampled[0].judged[topic],
        "paper_aol": aol,
        "paper_hf": forums,
        "paper_quora": quora,
        "paper_quora_corrected": CORRECTED_QUORA.get(topic, quora),
        "paper_of": " ".join(map(str, PAPER_JUDGED)) if topic == "TOTAL" else None,
    }


def _kappa_row(sampled: Sequence[_Judged], uniform: Sequence[_Judged]) -> Row:
    aol, forums, quora = PAPER_KAPPAS
    plain = [each.kappa for each in uniform if each.kappa is not None]
    row: Row = dict.fromkeys((*SHOWN, *WIDE), None)
    row |= {"topic": "Fleiss' kappa", "paper_aol": aol, "paper_hf": forums, "paper_quora": quora}
    if any(each.kappa is not None for each in sampled):
        row |= mean_columns("ours", [each.kappa for each in sampled])
    return row | {"uniform": float(np.mean(plain)) if plain else None}


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _finding(rows: Sequence[Row]) -> str:
    total = next(row for row in rows if row["topic"] == "TOTAL")
    kappa = rows[-1]["ours"]
    shown = f"{kappa:.3f}" if isinstance(kappa, float) else "undefined"
    return (
        f"{total['ours']:.0f} of {total['of']} profiles are sensitive by majority when sampled by "
        f"score, {total['uniform']:.0f} when sampled uniformly; the paper has 99 of 500 (AOL), 134 "
        f"of 400 (health forums) and 67 of 200 (Quora, corrected). Kappa is {shown}; the paper has "
        "0.442, 0.444 and 0.468."
    )


def _figure(rows: Sequence[Row]) -> Figure:
    figure, axes = new_figure(height=3.4)
    topics = [row for row in rows if row["topic"] not in {"TOTAL", "Fleiss' kappa"}]
    series = {
        "sampled by score": [_percent(row["ours"], row["of"]) for row in topics],
        "uniform": [_percent(row["uniform"], row["of"]) for row in topics],
        "paper, AOL": [_percent(row["paper_aol"], 100) for row in topics],
        "paper, health forums": [_percent(row["paper_hf"], 100) for row in topics],
        "paper, Quora": [_percent(row["paper_quora_corrected"], 40) for row in topics],
    }
    width = 0.8 / len(series)
    for place, (colour, (label, values)) in enumerate(zip(COLOURS, series.items(), strict=False)):
        at = np.arange(len(topics)) + (place - 2) * width
        axes.bar(at, values, width, color=colour, label=label)
    axes.set_xticks(range(len(topics)), [str(row["topic"]) for row in topics])
    axes.set_ylabel("% of judged users")
    legend_below(figure, 3)
    return figure


def _percent(count: object, of: object) -> float:
    whole = isinstance(count, int | float) and isinstance(of, int)
    return 100.0 * count / of if whole else 0.0  # type: ignore[operator] # checked just above
