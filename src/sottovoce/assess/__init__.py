"""Assess: who in a community stands out on a sensitive topic, as a rational adversary sees it."""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "Measure",
    "Ranking",
    "Scoring",
    "Setting",
    "State",
    "assess_posts",
    "known_measures",
    "load_state",
    "merge_all",
    "rank",
    "save_state",
    "score",
]

if TYPE_CHECKING:
    from sottovoce.assess.assess import assess_posts
    from sottovoce.assess.measures.catalogue import known_measures
    from sottovoce.assess.measures.measure import Measure
    from sottovoce.assess.ranking import Ranking, rank
    from sottovoce.assess.scores import Scoring, score
    from sottovoce.assess.setting import Setting
    from sottovoce.assess.state.parts import load_state, save_state
    from sottovoce.assess.state.state import State, merge_all
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Measure": "sottovoce.assess.measures.catalogue",
            "Ranking": "sottovoce.assess.ranking",
            "Scoring": "sottovoce.assess.scores",
            "Setting": "sottovoce.assess.setting",
            "State": "sottovoce.assess.state.state",
            "assess_posts": "sottovoce.assess.assess",
            "known_measures": "sottovoce.assess.measures.catalogue",
            "load_state": "sottovoce.assess.state.parts",
            "merge_all": "sottovoce.assess.state.state",
            "rank": "sottovoce.assess.ranking",
            "save_state": "sottovoce.assess.state.parts",
            "score": "sottovoce.assess.scores",
        },
    )
