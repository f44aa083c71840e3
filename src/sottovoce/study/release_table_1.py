"""Table 1: a private topic beside the true one, for the pair with the 10th-highest Jaccard."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sottovoce.errors import ParameterError
from sottovoce.release.counts import Counts, Floats
from sottovoce.release.evaluation import TopicMatch, fit_topics, match_topics, top_words
from sottovoce.release.evaluation.lda import MOST_TOKENS
from sottovoce.study.corpora import CountedCorpus
from sottovoce.study.release_parts.cases import ACCOUNTINGS, Case
from sottovoce.study.release_parts.levels import NOTES, STRONG, WEAK, Level
from sottovoce.study.release_parts.methods import Recipe, methods_for, release
from sottovoce.study.release_parts.plots import MARKERS, blank_figure
from sottovoce.study.release_parts.scores import level_scores
from sottovoce.study.result import Row, StudyResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "release-table-1"
LEVELS = (WEAK, STRONG)
PAPER_JACCARDS: dict[tuple[str, Level], float] = {
    ("none", WEAK): 0.6000,
    ("random", WEAK): 0.2121,
    ("frequency", WEAK): 0.6000,
    ("none", STRONG): 0.0256,
    ("random", STRONG): 0.0811,
    ("frequency", STRONG): 0.0811,
}


@dataclass(frozen=True, eq=False)
class Settings:
    """What to run; fewer documents and iterations for a quick look. ``pair`` counts from 1."""

    recipe: Recipe
    corpus: CountedCorpus
    topics: int = 25
    pair: int = 10
    iterations: int = 200
    most_tokens: int = MOST_TOKENS
    documents: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a pair that does not exist."""
        if not 1 <= self.pair <= self.topics:
            raise ParameterError(f"pair must be 1 to {self.topics}, the topics, got {self.pair}.")


@dataclass(frozen=True, eq=False)
class _Compared:
    case: Case
    row: Row
    match: TopicMatch


def run(settings: Settings) -> StudyResult:
    """One row per method, level and accounting."""
    corpus = settings.corpus.first(settings.documents)
    true = _topics(settings, corpus.counts, settings.seed)
    compared = [
        _compare(settings, corpus, true, Case(method, level, accounting))
        for accounting in ACCOUNTINGS
        for level in LEVELS
        for method in methods_for(settings.recipe)
    ]
    rows = tuple(each.row for each in compared)
    return StudyResult(NAME, rows, (_figure(compared),), NOTES)


def _compare(settings: Settings, corpus: CountedCorpus, true: Floats, case: Case) -> _Compared:
    rate = case.rate(corpus.counts.shape[1], settings.recipe.columns)
    private = release(settings.recipe, case.method, corpus.counts, rate, settings.seed)
    # With a seed in common, two models of nearly the same text would agree by that alone.
    phi = _topics(settings, private, settings.seed + 1)
    match = match_topics(phi, true)
    row = case.labels(rate) | _pair_row(settings, corpus, match, phi, true)
    row |= {"paper_jaccard": _printed(case), **level_scores(true, corpus.counts)}
    return _Compared(case, row, match)


def _topics(settings: Settings, counts: Counts, seed: int) -> Floats:
    return fit_topics(
        counts,
        settings.topics,
        seed + 1,
        iterations=settings.iterations,
        most_tokens=settings.most_tokens,
    )


def _printed(case: Case) -> float | None:
    """The paper's figure; its uncompressed ones are at the stated rate, which is the tight one."""
    if case.method == "none" and case.accounting == "paper":
        return None
    return PAPER_JACCARDS.get((case.method, case.level))


def _pair_row(
    settings: Settings, corpus: CountedCorpus, match: TopicMatch, private: Floats, true: Floats
) -> Row:
    place = settings.pair - 1
    ours = _words(corpus, private, int(match.private[place]))
    theirs = _words(corpus, true, int(match.true[place]))
    return {
        "pair": settings.pair,
        "jaccard": float(match.jaccards[place]),
        "jaccard_mean": match.mean,
        "private_words": ours,
        "true_words": theirs,
        "shared_words": [word for word in ours if word in theirs],
    }


def _words(corpus: CountedCorpus, phi: Floats, topic: int) -> list[str]:
    return [corpus.vocabulary[word] for word in top_words(phi)[topic]]


def _figure(compared: Sequence[_Compared]) -> "Figure":
    figure = blank_figure(9, 3.6)
    panels = figure.subplots(1, len(ACCOUNTINGS), sharey=True)
    for axes, accounting in zip(panels, ACCOUNTINGS, strict=True):
        for each in compared:
            if each.case.accounting == accounting:
                label = f"{each.case.method}, true epsilon {each.row['true_epsilon']:g}"
                marker = MARKERS[each.case.method]
                axes.plot(each.match.jaccards, marker=marker, markersize=3, label=label)
        axes.set(title=f"{accounting} accounting", xlabel="topic pairs, best first")
        axes.legend(fontsize="x-small")
    panels[0].set_ylabel("Jaccard of top words")
    return figure
