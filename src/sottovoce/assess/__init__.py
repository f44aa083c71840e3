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
    from sottovoce.assess.alerts import Alerts
    from sottovoce.assess.api import score
    from sottovoce.assess.buckets import Bucket
    from sottovoce.assess.explanation import Explanation
    from sottovoce.assess.from_posts import assess_posts
    from sottovoce.assess.measures.catalogue import Measure, known_measures
    from sottovoce.assess.ranking import Ranking, rank
    from sottovoce.assess.scoring import Scoring
    from sottovoce.assess.setting import Setting
    from sottovoce.assess.state import State, merge_all
    from sottovoce.assess.state_file import load_state, save_state
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Alerts": "sottovoce.assess.alerts",
            "Bucket": "sottovoce.assess.buckets",
            "Explanation": "sottovoce.assess.explanation",
            "Measure": "sottovoce.assess.measures.catalogue",
            "Ranking": "sottovoce.assess.ranking",
            "Scoring": "sottovoce.assess.scoring",
            "Setting": "sottovoce.assess.setting",
            "State": "sottovoce.assess.state",
            "assess_posts": "sottovoce.assess.from_posts",
            "known_measures": "sottovoce.assess.measures.catalogue",
            "load_state": "sottovoce.assess.state_file",
            "merge_all": "sottovoce.assess.state",
            "rank": "sottovoce.assess.ranking",
            "save_state": "sottovoce.assess.state_file",
            "score": "sottovoce.assess.api",
        },
    )
