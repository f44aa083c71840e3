"""What is asked of an assessment, and whether a state allows it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sottovoce.assess.api import plan_scoring
from sottovoce.assess.buckets import Bucket
from sottovoce.assess.header import M_KEPT, Header
from sottovoce.assess.measures.catalogue import Measure, chosen_measures
from sottovoce.assess.scoring import Scoring, named_spaces
from sottovoce.assess.setting import Setting
from sottovoce.assess.state import State
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.bow import BagOfWords
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import Mode, Space


@dataclass(frozen=True)
class Request:
    """What is to be ranked and how.

    What is None is taken from the state, or has its default where there is no state yet; the mode
    too, unless ``mode`` or ``setting`` names another than the default.
    """

    measures: tuple[str, ...]
    setting: Setting = field(default_factory=Setting)
    catalogue: Catalogue | None = None
    spaces: tuple[Space, ...] = ()
    topics: tuple[str, ...] | None = None
    bucket: Bucket | None = None
    kept: int | None = None
    posts: bool | None = None
    mode: Mode | None = None


def scoring_for(header: Header, spaces: Sequence[Space]) -> Scoring:
    """How to score more posts for a state with this header; it must fit exactly."""
    bow = BagOfWords()
    given: dict[str, Space] = {bow.name: bow, **named_spaces(spaces)}
    if missing := sorted(set(header.spaces) - set(given)):
        raise InputError(
            f"the state holds strengths in {', '.join(missing)}: new posts need that model too; "
            "give it (on the command line: --model)."
        )
    scoring = Scoring(
        header.catalogue,
        [given[name] for name in header.spaces],
        words=None if header.salient is None else bow.scorer(header.catalogue),
        bucket=header.bucket,
        kept=header.kept,
        mode=header.mode,
        posts=header.posts,
    )
    header.check_same(scoring.header)
    return scoring


def new_scoring(request: Request, setting: Setting) -> tuple[dict[str, Measure], Scoring]:
    """How to score the posts of a state that is not there yet."""
    if request.catalogue is None:
        raise ParameterError(
            "a catalogue of topics is needed; give it (on the command line: --topics)."
        )
    return plan_scoring(
        request.catalogue,
        request.spaces,
        request.measures,
        bucket=request.bucket or Bucket(1, "w"),
        kept=max(setting.m, request.kept or M_KEPT),
        mode=setting.mode,
        posts=bool(request.posts),
    )


def mode_asked(request: Request) -> Mode | None:
    """The mode that was asked for by name."""
    if request.mode is None and request.setting.mode != Setting().mode:
        return request.setting.mode
    return request.mode


def held_measures(request: Request, held: State) -> dict[str, Measure]:
    """The measures asked for, all of which the state must allow."""
    if held.words is None and request.measures == ("all",):
        chosen = chosen_measures(("all",), tuple(held.spaces))
        return {name: each for name, each in chosen.items() if each.space is not None}
    chosen = chosen_measures(request.measures, tuple(held.spaces))
    if any(measure.space is None for measure in chosen.values()):
        held.word_use()
    return chosen


def check_wishes(request: Request, header: Header) -> None:
    """Refuse what contradicts the state."""
    if request.catalogue is not None and request.catalogue != header.catalogue:
        raise InputError("the catalogue is not the one the state was made with; score anew.")
    wishes = {
        "bucket": (request.bucket, header.bucket),
        "mode": (mode_asked(request), header.mode),
        "number of buckets kept": (request.kept, header.kept),
        "option to keep posts": (request.posts, header.posts),
    }
    for what, (asked, held) in wishes.items():
        if asked is not None and asked != held:
            raise InputError(
                f"the state was made with the {what} {held}, got {asked}; score anew, or ask for "
                f"{held}."
            )
