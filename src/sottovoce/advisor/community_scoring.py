"""How a community's posts are scored: so that another measure can be chosen at once."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sottovoce.advisor.community_setting import Setting
from sottovoce.assess.header import M_KEPT, Header
from sottovoce.assess.measures.catalogue import MEASURES
from sottovoce.assess.scoring import Scoring, named_spaces
from sottovoce.errors import InputError
from sottovoce.topics.bow import BagOfWords
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import Space


def whole_scoring(catalogue: Catalogue, spaces: Sequence[Space], setting: Setting) -> Scoring:
    """All that any measure of these spaces needs, so that another one can be chosen at once."""
    bow = BagOfWords()
    given: dict[str, Space] = {bow.name: bow, **named_spaces(spaces)}
    return Scoring(
        catalogue,
        list(given.values()),
        words=bow.scorer(catalogue),
        bucket=setting.buckets,
        kept=max(setting.m, M_KEPT),
        mode=setting.mode,
    )


def scoring_like(header: Header, spaces: Sequence[Space]) -> Scoring:
    """Scoring by which a state was made, as far as its models are at hand."""
    words = None if header.salient is None else BagOfWords().scorer(header.catalogue)
    scoring = Scoring(
        header.catalogue,
        spaces,
        words=words,
        bucket=header.bucket,
        kept=header.kept,
        mode=header.mode,
    )
    if scoring.header.counted == header.counted:
        return scoring
    return scoring_like(replace(header, salient=None, words=0, counted=""), spaces)


def allowed_measures(
    scoring: Scoring, learnable: Iterable[str] = (), *, words: bool
) -> tuple[str, ...]:
    have = {*scoring.header.spaces, *learnable}
    counted = words and scoring.header.salient is not None
    return tuple(
        name
        for name, measure in MEASURES.items()
        if (counted if measure.space is None else measure.space in have)
    )


def fitting_setting(scoring: Scoring) -> Setting:
    """The most telling measure that a state allows, by its own bucket and mode."""
    header = scoring.header
    allowed = allowed_measures(scoring, words=True)
    if not allowed:
        raise InputError("none of the models that this state was made with is at hand.")
    best = [name for name in allowed if name.endswith("-dt")] or allowed
    kept = min(Setting.m, header.kept)
    return Setting(best[-1], m=kept, bucket=str(header.bucket), mode=header.mode)
