"""Assess: who in a community stands out on a sensitive topic, as a rational adversary sees it."""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

if TYPE_CHECKING:
    from sottovoce.assess.assess import assess_posts as assess_posts
    from sottovoce.assess.assess import score as score
    from sottovoce.assess.measures.catalogue import known_measures as known_measures
    from sottovoce.assess.measures.measure import Measure as Measure
    from sottovoce.assess.ranking import Ranking as Ranking
    from sottovoce.assess.ranking import rank as rank
    from sottovoce.assess.scores import Scoring as Scoring
    from sottovoce.assess.setting import Setting as Setting
    from sottovoce.assess.state.parts import load_state as load_state
    from sottovoce.assess.state.parts import save_state as save_state
    from sottovoce.assess.state.state import State as State
    from sottovoce.assess.state.state import merge_all as merge_all
else:
    __getattr__, __dir__ = attach(__name__)
