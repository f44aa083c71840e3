"""The demo's assess part: whom an adversary finds, why them, and how well each measure does."""

from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce_lab.assess.experiment import captured
from sottovoce_lab.assess.outcomes import (
    AFFLICTED,
    CommunityOutcome,
    metric_columns,
    outcome,
    persona_columns,
    score_community,
)
from sottovoce_lab.assess.plots import by_measure, by_persona

from sottovoce.assess.evaluation.runs import ENT, POSTS, RANDOM
from sottovoce.assess.evaluation.significance import Difference, paired_difference
from sottovoce.assess.measures.catalogue import PAPER_METHODS
from sottovoce.assess.scores import plan_scoring
from sottovoce.assess.setting import Setting
from sottovoce.corpus.simulate import SimulatedCommunity
from sottovoce.demo._people import (
    Portrait,
    TopicRanking,
    Viewer,
    band_facts,
    band_plot,
    portrait_table,
    ranking_table,
    timeline,
    topic_rankings,
)
from sottovoce.loop.adversary import Knowledge, Training, train_knowledge
from sottovoce.loop.subject import DEFAULT, simulated_catalogue, simulated_community
from sottovoce.report.page import Section
from sottovoce.report.result import Row, number

# Seconds of training: enough to find the topics, far less than the studies do.
TRAINING = Training(topics=100, iterations=60, burn_in=15, dimensions=48, epochs=3)
STRENGTH, SHOWN = "lda", "lda-dt"
SETTING = Setting()
METRICS = {"r_precision_micro": "R-precision", "map": "MAP", "ndcg": "NDCG"}
BASELINES = (ENT, POSTS, RANDOM)
# A hyphen at which no line breaks, so that an interval stays whole on a narrow screen.
_DASH = "\u2011"

_ADVERSARY = (
    "Suppose an adversary wants the people whom a sensitive topic concerns. They need not read "
    "anybody: from texts that anyone can get they learn which words go together, let a program "
    f"rank everybody by how close their posts come to the topic (by {SHOWN}, told below), and "
    "start at the top."
)
_NO_DIAGNOSIS = (
    "A rank is exposure: how soon such an adversary would turn to them, rightly or not. It is "
    "not a diagnosis, and nobody should be treated as if it were one."
)
_NAMES = (
    "These people do not exist, so this page may name them. Of real ones such a list is what the "
    "adversary wants: sottovoce assess writes it to a file that only its owner can read, and the "
    "screen shows counts."
)
_PARTS = (
    "Strength is how close their closest post comes to the topic, from 0 to 1. Breadth is how "
    "close they come to the topic's neighbours: who writes about them all is perhaps there by "
    f"profession. Persistence is how close their {SETTING.m} best weeks come on average: who came "
    f"once was perhaps curious. {SHOWN} is persistence less breadth."
)
_METRICS = (
    "The simulation knows whom a topic concerns, so every ranking can be judged. R-precision: if "
    "as many people are picked from the top as it concerns, the share whom it does. MAP: down to "
    "the place of each of them, that share, averaged. NDCG: how far the order follows how much it "
    "concerns them, 1 at best. In brackets 95% intervals over users drawn again, each by itself."
)
_MEASURES = (
    "ent and diff-priv look for rare words; bow, w2v and lda for closeness to the topic in a bag "
    "of words, in word vectors and in latent topics; -d takes off breadth, -t asks for "
    "persistence, -dt does both. What all must beat: ent, the number of posts, and chance."
)
_LITTLE = (
    "One community and models trained in seconds: for several communities, larger models and a "
    "control, run sottovoce study assess-table-5."
)
_ROLES = {
    AFFLICTED: "the topic concerns them",
    "supporter": "they support others",
    "professional": "they work in the field",
    "curious": "they were curious for a week",
    "bystander": "they are a bystander to it",
}


@dataclass(frozen=True, eq=False)
class AssessDemo:
    """What the sections say."""

    knowledge: Knowledge
    texts: int
    unknown: tuple[str, ...]
    """Sensitive topics that the adversary's model does not have."""
    topic: str
    """The one whose portraits are shown."""
    rankings: tuple[TopicRanking, ...]
    portraits: tuple[Portrait, ...]
    judged: CommunityOutcome


def assess_sections(community: SimulatedCommunity, *, command: str) -> tuple[Section, ...]:
    """The whole part of the report."""
    demo = run_assess_demo(community)
    return (
        _ranked(demo, command),
        _explained(demo, command),
        _compared(demo.judged, command),
    )


def run_assess_demo(community: SimulatedCommunity) -> AssessDemo:
    """Learn from the background, score the community by all measures, judge and explain."""
    texts = community.background["text"].to_pylist()
    seed = community.parameters.seed % 2**31 + 1
    knowledge = train_knowledge(texts, simulated_catalogue(community), TRAINING, seed)
    known = captured(simulated_community(community, DEFAULT), knowledge)
    scored = score_community(known, knowledge, PAPER_METHODS)
    _, scoring = plan_scoring(knowledge.catalogue, knowledge.spaces, PAPER_METHODS)
    viewer = Viewer(scored, scoring, 0, STRENGTH, SHOWN, SETTING)
    return AssessDemo(
        knowledge=knowledge,
        texts=len(texts),
        unknown=_unknown(community, knowledge),
        topic=viewer.name,
        rankings=topic_rankings(scored, SHOWN, SETTING),
        portraits=viewer.portraits(),
        judged=outcome(scored, SETTING),
    )


def _unknown(community: SimulatedCommunity, knowledge: Knowledge) -> tuple[str, ...]:
    known = knowledge.catalogue.names
    return tuple(name for name in community.parameters.sensitive_topics if name not in known)


def _ranked(demo: AssessDemo, command: str) -> Section:
    missed = (
        f"Their model has nothing for {', '.join(demo.unknown)}, which is therefore left out here.",
    )
    return Section(
        title="Who stands out",
        paragraphs=(_ADVERSARY, _NO_DIAGNOSIS, _NAMES, *(missed if demo.unknown else ())),
        facts={
            "They learn from": f"{demo.texts:,} texts of the same simulated world",
            "They learn": (
                f"{TRAINING.topics} latent topics, word vectors of {TRAINING.dimensions} dimensions"
            ),
            **band_facts(demo.rankings),
        },
        plots=(band_plot(demo.rankings),),
        table=ranking_table(demo.rankings),
        command=command,
    )


def _explained(demo: AssessDemo, command: str) -> Section:
    return Section(
        title="Why one person stands out",
        paragraphs=(_first(demo), _PARTS, *_fallen(demo.portraits)),
        plots=(timeline(demo.portraits, SETTING.m),),
        table=portrait_table(demo.portraits),
        command=command,
    )


def _first(demo: AssessDemo) -> str:
    first = demo.portraits[0]
    alarm = "" if first.persona == AFFLICTED else " A false alarm."
    return (
        f"For {demo.topic}, {first.user} stands first of {first.explanation.position.users:,}. In "
        f"truth {_ROLES[first.persona]}.{alarm} This is what put them there, and where they would "
        "stand without the posts that matter most."
    )


def _fallen(portraits: Sequence[Portrait]) -> tuple[str, ...]:
    """What keeps the other one from being flagged: the larger of two differences."""
    if len(portraits) == 1:
        return ()
    first, other = portraits
    broader, briefer = other.breadth - first.breadth, first.persistence - other.persistence
    why = (
        f"their breadth, {other.breadth:.2f} against {first.breadth:.2f}"
        if broader > briefer
        else f"their persistence, {other.persistence:.2f} against {first.persistence:.2f}"
    )
    told = (
        f"{other.user} is number {other.ranks[STRENGTH]:,} by strength alone, but number "
        f"{other.ranks[SHOWN]:,} by {SHOWN}. What sets them apart from {first.user} is above all "
        f"{why}. In truth {_ROLES[other.persona]}."
    )
    return (told,)


def _compared(judged: CommunityOutcome, command: str) -> Section:
    rows = [
        {"community": DEFAULT, "measure": measure}
        | metric_columns([judged], measure)
        | persona_columns([judged], measure)
        for measure in judged.runs
    ]
    return Section(
        title="How well each measure finds them",
        paragraphs=(_METRICS, _MEASURES, _LITTLE),
        facts={
            f"MAP of {SHOWN} less that of {name}": _in_words(gain(judged, name))
            for name in BASELINES
        },
        plots=(by_measure(rows), by_persona(rows)),
        table=measure_table(rows),
        command=command,
    )


def gain(judged: CommunityOutcome, baseline: str) -> Difference:
    """How much the shown measure is above a baseline in MAP, on the same draws of users."""
    ours, theirs = judged.draws[SHOWN]["map"], judged.draws[baseline]["map"]
    value = judged.metrics[SHOWN]["map"] - judged.metrics[baseline]["map"]
    return paired_difference(value, ours, theirs)


def _in_words(found: Difference) -> str:
    return f"{found.value:+.3f} (95%: {found.low:+.2f} to {found.high:+.2f})"


def measure_table(rows: Sequence[Row]) -> tuple[tuple[str, ...], ...]:
    """A row for each measure and baseline, with intervals."""
    head = ("measure", *METRICS.values())
    return (head, *((str(row["measure"]), *_cells(row)) for row in rows))


def _cells(row: Row) -> list[str]:
    return [
        f"{number(row, name):.3f} ({number(row, f'{name}_low'):.2f}{_DASH}"
        f"{number(row, f'{name}_high'):.2f})"
        for name in METRICS
    ]
