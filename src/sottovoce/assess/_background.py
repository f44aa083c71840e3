"""The adversary's background where nobody gives a model: learnt from the posts at hand.

It is kept beside the state, in STATE.model, so that later posts are scored alike; a state names the
fingerprint of its model, which is compared each time.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from sottovoce.assess._job import Request, cleaning_asked, mode_asked
from sottovoce.assess.measures._catalogue import GROUPS, MEASURES, RECOMMENDED, named_measure
from sottovoce.assess.state._parts import KeptState
from sottovoce.topics.shipped import shipped_catalogue

if TYPE_CHECKING:
    from sottovoce.topics.voice._learnt import LearntVoice

WITHOUT_BACKGROUND = "bow-t"
"""What a ranking goes by where the recommended measure has nothing to learn from."""


def model_folder(state: Path) -> Path:
    """Where the background that was learnt for a state is kept."""
    return state.with_name(f"{state.name}.model")


def measures_asked(named: str | None, state: Path | None, *, has_others: bool) -> tuple[str, ...]:
    """The measures by name; without one the recommended, unless something else decides.

    A state that is there decides, and so does what ``has_others`` stands for: models, topics of
    one's own, other states or a cluster: then it is all that these allow.
    """
    if named is None:
        kept = state is not None and state.exists()
        return ("all",) if kept or has_others else RECOMMENDED[:1]
    return tuple(name.strip() for name in named.split(","))


def check_names(request: Request, state: Path | None) -> None:
    """Refuse unknown measures and topics before any post is read; a state has its own topics."""
    for name in request.measures:
        if name not in GROUPS:
            named_measure(name)
    if request.topics and (state is None or not state.exists()):
        (request.catalogue or shipped_catalogue()).named(request.topics)


def with_kept_model(request: Request, state: Path | None) -> Request:
    """The request with the background that is kept beside its state, unless it brings its own."""
    if state is None or not state.exists() or any(each.name == "voice" for each in request.spaces):
        return request
    folder = model_folder(state)
    if not folder.exists() or "voice" not in KeptState.open(state).header.spaces:
        return request
    from sottovoce.topics._load import load_model  # noqa: PLC0415 - only where one is kept

    return replace(request, spaces=(*request.spaces, load_model(folder)))


def needs_background(request: Request) -> bool:
    """Whether a measure asked for needs a background of first-person texts, and none is given."""
    wanted = {MEASURES[name].space for name in request.measures if name in MEASURES}
    return "voice" in wanted and all(each.name != "voice" for each in request.spaces)


def learnt_background(
    request: Request,
    posts: Iterable[pa.RecordBatch],
    say: Callable[[str], None],
    *,
    may_fall_back: bool,
) -> tuple[Request, "LearntVoice | None"]:
    """The request with a background learnt from ``posts``, and that; ``say`` gets a line about it.

    Where the posts show nothing, and nobody asked for this measure by name, the ranking goes by one
    that needs no background.
    """
    from sottovoce.topics.voice._learnt import TooFewPostsError, learn_voice  # noqa: PLC0415 - needs the compiler

    catalogue = shipped_catalogue() if request.catalogue is None else request.catalogue
    clean = cleaning_asked(request, mode_asked(request) or "corrected")
    try:
        model = learn_voice(posts, catalogue, clean=clean)
    except TooFewPostsError:
        if not may_fall_back:
            raise
        say(
            "the posts are too few, or not in English, to learn a background from: ranked by "
            f"{WITHOUT_BACKGROUND}, which counts the topics' words only"
        )
        return replace(request, measures=(WITHOUT_BACKGROUND,)), None
    say(_said(len(catalogue), _unheard(model, catalogue.names)))
    return replace(request, spaces=(*request.spaces, model)), model


def _said(topics: int, unheard: Sequence[str]) -> str:
    heard = f"{topics - len(unheard)} of {topics} topics" if unheard else f"{topics} topics"
    learnt = f"background learnt from these posts for {heard}"
    return learnt + (f"; nobody speaks of {', '.join(unheard)}" if unheard else "")


def _unheard(model: "LearntVoice", names: Sequence[str]) -> list[str]:
    learnt = set(model.learnt)
    return [name for name in names if name not in learnt]
