"""Who says it outright, and whom the measures find, among personas who write sentences.

Not a table of the paper. In the simulated communities of the other studies words are drawn one by
one, so that there is nothing to disclose; here people write sentences of ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce._arrays import Flags, Floats
from sottovoce._steps import repetitions
from sottovoce.assess._score import plan_scoring
from sottovoce.assess._setting import Setting
from sottovoce.assess.disclosure import DisclosureLevel, DisclosureReader
from sottovoce.assess.evaluation import tie_order
from sottovoce.assess.evaluation._metrics import average_precision, r_precision
from sottovoce.assess.evaluation._ties import TiedRanking
from sottovoce.corpus.read import open_posts
from sottovoce.errors import CorpusError
from sottovoce.lab._options import StudyOptions
from sottovoce.lab.assess._outcomes import AFFLICTED, interval_columns
from sottovoce.lab.assess.personas._posts import (
    BYSTANDER,
    PERSONAS,
    PersonaCommunity,
    known_topics,
    persona_background,
    persona_community,
)
from sottovoce.report._figures import ACCENT, INK, new_panels
from sottovoce.report._page import Plot
from sottovoce.report._result import Row, StudyResult, number
from sottovoce.topics import (
    Catalogue,
    LdaParameters,
    Space,
    match_model,
    shipped_catalogue,
    train_lda,
    train_voice,
)

FOUND = ("voice-t", "voice-st", "bow-t", "keyword-kinds", "keyword-kinds-t", "bow-dt", "lda-dt")
FORMER = "bow-dt"
HELPERS = ("professional", "supporter")
SHOWN = (
    "what",
    "who",
    "outright",
    "about",
    "map",
    "r_precision",
    "above_helpers",
    "first_afflicted",
)
WIDE = tuple(f"first_{persona}" for persona in PERSONAS[1:])


@dataclass(frozen=True)
class PersonaStudySize:
    """How many communities, and how large."""

    communities: int = 10
    users: int = 600
    weeks: int = 26
    background: int = 6000
    latent: LdaParameters = LdaParameters(  # noqa: RUF009 - frozen
        topics=100, iterations=100, seed=8, workers=1
    )


QUICK = PersonaStudySize(
    2, 400, 8, 1500, LdaParameters(topics=60, iterations=15, burn_in=5, seed=8, workers=1)
)


class _Knowledge(NamedTuple):
    catalogue: Catalogue
    latent: Catalogue
    """The topics that the latent model knows."""
    spaces: tuple[Space, ...]
    topics: tuple[str, ...]


def run_assess_personas(options: StudyOptions) -> StudyResult:
    """Disclosure among personas, and what the measures find, over communities of sentences.

    Means over communities with 95% intervals. ``outright`` and ``about`` are shares of people who
    have such a post about their topic (bystanders: about any one topic). ``above_helpers`` is how
    often an afflicted person stands above a professional or supporter of the same topic;
    ``first_...`` are the shares of personas in the first places, as many as there are afflicted;
    a bystander is there whoever has no role for the topic.
    """
    size = QUICK if options.quick else PersonaStudySize()
    communities = options.seeds or size.communities
    knowledge = _knowledge(size)
    made = [
        persona_community(knowledge.topics, users=size.users, weeks=size.weeks, seed=seed)
        for seed in repetitions(communities)
    ]
    disclosed = [_disclosed(community, knowledge) for community in made]
    found = [_found(community, knowledge) for community in made]
    rows = (
        *(_disclosure_row(persona, disclosed) for persona in PERSONAS),
        *(_ranking_row(measure, found) for measure in FOUND),
    )
    return StudyResult(rows, (_plot(rows),), SHOWN, _notes(size, communities, knowledge), WIDE)


def _knowledge(size: PersonaStudySize) -> _Knowledge:
    catalogue = shipped_catalogue()
    topics = known_topics(catalogue.names)
    texts = persona_background(topics, size.background, seed=1)
    latent = train_lda(texts, size.latent)
    matched = match_model(catalogue, latent).without_unmatched()
    return _Knowledge(catalogue, matched, (train_voice(texts), latent), tuple(topics))


class _Shares(NamedTuple):
    about: float
    outright: float
    outright_posts: float


def _disclosed(community: PersonaCommunity, knowledge: _Knowledge) -> dict[str, _Shares]:
    """By persona: of people and topics that they have to do with, how many say so in some post."""
    levels = _levels(community, knowledge)
    by_persona: dict[str, list[NDArray[np.int64]]] = {persona: [] for persona in PERSONAS}
    for member in community.members:
        topics = knowledge.topics if member.persona == BYSTANDER else (member.topic,)
        for topic in topics:
            by_persona[member.persona].append(levels[member.name][:, knowledge.topics.index(topic)])
    return {persona: _shares(pairs) for persona, pairs in by_persona.items()}


def _shares(pairs: Sequence[NDArray[np.int64]]) -> _Shares:
    most = np.array([posts.max(initial=0) for posts in pairs])
    outright = sum(int((posts == DisclosureLevel.OUTRIGHT).sum()) for posts in pairs)
    return _Shares(
        float(np.mean(most >= DisclosureLevel.ABOUT)),
        float(np.mean(most >= DisclosureLevel.OUTRIGHT)),
        outright / max(1, sum(posts.size for posts in pairs)),
    )


def _levels(community: PersonaCommunity, knowledge: _Knowledge) -> dict[str, NDArray[np.int64]]:
    """For each user posts x topics: how plainly each post speaks."""
    reader = DisclosureReader(knowledge.catalogue)
    known: dict[str, NDArray[np.int64]] = {}
    found: dict[str, list[NDArray[np.int64]]] = {member.name: [] for member in community.members}
    users, texts = (community.posts[name].to_pylist() for name in ("user", "text"))
    for user, text in zip(users, texts, strict=True):
        if text not in known:
            line = np.zeros(len(knowledge.topics), np.int64)
            for told in reader.read(text):
                if told.topic in knowledge.topics:
                    line[knowledge.topics.index(told.topic)] = told.level
            known[text] = line
        found[user].append(known[text])
    return {user: np.array(lines) for user, lines in found.items()}


Outcome = Mapping[str, Mapping[str, float]]


def _found(community: PersonaCommunity, knowledge: _Knowledge) -> Outcome:
    """By measure, the means over topics."""
    found: dict[str, Mapping[str, float]] = {}
    for latent in (False, True):
        names = [name for name in FOUND if name.startswith("lda") == latent]
        catalogue = knowledge.latent if latent else knowledge.catalogue
        measures, scoring = plan_scoring(catalogue, knowledge.spaces, names)
        state = scoring.state_of(open_posts(community.posts))
        members = {member.name: member for member in community.members}
        ordered = [members[name] for name in state.users.names().to_pylist()]
        for name, measure in measures.items():
            values = [
                _topic_metrics(
                    measure.score(state, topic, Setting()),
                    {p: np.array([m.topic == topic and m.persona == p for m in ordered])
                     for p in PERSONAS[:-1]},
                )
                for topic in knowledge.topics
                if topic in catalogue.names
            ]  # fmt: skip
            if not values:
                raise CorpusError("the latent model knows none of the topics; train a larger one.")
            found[name] = {key: float(np.mean([each[key] for each in values])) for key in values[0]}
    return found


def _topic_metrics(scores: Floats, personas: Mapping[str, Flags]) -> dict[str, float]:
    """How one topic's afflicted stand, and who is in the first places."""
    order, afflicted = tie_order(scores), personas[AFFLICTED]
    everyone = np.ones(scores.size)
    relevant = order.totals(afflicted)
    ranking = TiedRanking(order.totals(everyone), relevant, relevant)
    helpers = np.any([personas[name] for name in HELPERS], axis=0)
    within = order.shared(ranking.share_within(float(afflicted.sum())))
    first = {name: float(within[own].sum() / afflicted.sum()) for name, own in personas.items()}
    return {
        "map": float(average_precision(ranking)),
        "r_precision": float(r_precision(ranking)),
        "above_others": _above(scores[afflicted], scores[~afflicted]),
        "above_helpers": _above(scores[afflicted], scores[helpers]),
        **{f"first_{name}": share for name, share in first.items()},
        f"first_{BYSTANDER}": 1.0 - sum(first.values()),
    }


def _above(ours: Floats, theirs: Floats) -> float:
    """Of pairs, in how many ours is higher; a tie is half a pair."""
    higher = (ours[:, None] > theirs).mean() + (ours[:, None] == theirs).mean() / 2
    return float(higher)


_DISCLOSURE = ("outright", "about", "outright_posts")
_RANKING = ("map", "r_precision", "above_others", "above_helpers")


def _disclosure_row(persona: str, found: Sequence[Mapping[str, _Shares]]) -> Row:
    row: Row = {"what": "disclosure", "who": persona}
    for name in _DISCLOSURE:
        row |= interval_columns(name, [getattr(each[persona], name) for each in found])
    return row | dict.fromkeys((*_RANKING, *(f"first_{each}" for each in PERSONAS)))


def _ranking_row(measure: str, found: Sequence[Outcome]) -> Row:
    row: Row = {"what": "ranking", "who": measure} | dict.fromkeys(_DISCLOSURE)
    for name in (*_RANKING, *(f"first_{each}" for each in PERSONAS)):
        row |= interval_columns(name, [each[measure][name] for each in found])
    return row


def _notes(size: PersonaStudySize, communities: int, knowledge: _Knowledge) -> tuple[str, ...]:
    latent = sum(topic in knowledge.latent.names for topic in knowledge.topics)
    return (
        (
            f"{communities} communities of {size.users} people over {size.weeks} weeks, "
            f"{len(knowledge.topics)} topics; the latent model knows {latent} of them, and lda-dt "
            "is judged on these. 95% intervals over communities."
        ),
        (
            "People write sentences of ours, so that no figure carries over to real people: half "
            "of the sentences are the demo's, whose author knew what is looked for. The "
            "adversary's background is made of other sentences than the posts."
        ),
    )


def _plot(rows: Sequence[Row]) -> Plot:
    """How high the afflicted stand by each measure, and above helpers."""
    own = [row for row in rows if row["what"] == "ranking"]
    figure, panels = new_panels(2, width=7.5, height=0.8 + 0.3 * len(own))
    for panel, (name, title) in zip(
        panels, (("map", "MAP"), ("above_helpers", "people concerned above helpers")), strict=True
    ):
        for place, row in enumerate(reversed(own)):
            colour = ACCENT if row["who"] == FOUND[0] else INK
            ends = [number(row, f"{name}_low"), number(row, f"{name}_high")]
            panel.plot(ends, [place] * 2, color=colour)
            panel.plot([number(row, name)], [place], "o", color=colour)
        panel.set(title=title, yticks=range(len(own)))
        panel.set_yticklabels([str(row["who"]) for row in reversed(own)])
    said = {row["who"]: number(row, "outright") for row in rows if row["what"] == "disclosure"}
    best = max(own, key=lambda row: number(row, "map"))
    finding = (
        f"{said[AFFLICTED]:.0%} of people concerned say it outright, {said['professional']:.0%} of "
        f"professionals and {said['supporter']:.0%} of supporters are read as if they did; "
        f"{best['who']} has the highest MAP, {number(best, 'map'):.2f}."
    )
    return Plot(figure, finding, f"Dots with 95% intervals for each measure. {finding}")
