"""Assess: who in a community stands out on a sensitive topic, as a rational adversary sees it."""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = [
    "Alerts",
    "Bucket",
    "Explanation",
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
    from sottovoce.assess._alerts import Alerts
    from sottovoce.assess._assess_posts import assess_posts
    from sottovoce.assess._explain.explanation import Explanation
    from sottovoce.assess._ranking import Ranking, rank
    from sottovoce.assess._score import Scoring, score
    from sottovoce.assess._setting import Bucket, Setting
    from sottovoce.assess.measures._catalogue import Measure, known_measures
    from sottovoce.assess.state._parts import load_state, save_state
    from sottovoce.assess.state._state import State, merge_all
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Alerts": "sottovoce.assess._alerts",
            "Bucket": "sottovoce.assess._setting",
            "Explanation": "sottovoce.assess._explain.explanation",
            "Measure": "sottovoce.assess.measures._catalogue",
            "Ranking": "sottovoce.assess._ranking",
            "Scoring": "sottovoce.assess._score",
            "Setting": "sottovoce.assess._setting",
            "State": "sottovoce.assess.state._state",
            "assess_posts": "sottovoce.assess._assess_posts",
            "known_measures": "sottovoce.assess.measures._catalogue",
            "load_state": "sottovoce.assess.state._parts",
            "merge_all": "sottovoce.assess.state._state",
            "rank": "sottovoce.assess._ranking",
            "save_state": "sottovoce.assess.state._parts",
            "score": "sottovoce.assess._score",
        },
    )
