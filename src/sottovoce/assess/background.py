"""The adversary's background where a measure needs one and nobody gives it: the posts at hand.

It is kept beside the state, in STATE.model, so that later posts are scored alike; a state names the
fingerprint of its model, which is compared each time.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from sottovoce.assess.job import Request, cleaning_asked, mode_asked
from sottovoce.assess.measures.catalogue import GROUPS, MEASURES, RECOMMENDED, named_measure
from sottovoce.assess.state.parts import KeptState
from sottovoce.topics.shipped.rules import shipped_catalogue

if TYPE_CHECKING:
    from sottovoce.topics.voice.train import LearntVoice

WITHOUT_BACKGROUND = "bow-t"
"""What a ranking goes by where nobody names a measure or gives a model.

``voice-t`` is meant for a background of others' texts. What posts at hand teach is worse than
the topics' own words: in made-up exports of 2,000 to 40,000 posts it put people who say it outright
hundreds of places further down.
"""


def model_folder(state: Path) -> Path:
    """Where the background that was learnt for a state is kept."""
    return state.with_name(f"{state.name}.model")


def measures_asked(
    named: Sequence[str] | None, state: Path | None, *, has_others: bool
) -> tuple[str, ...]:
    """The measures by name; without one that which needs no model, unless something else decides.

    A state that is there is ranked as it was last. What ``has_others`` stands for decides too:
    models, topics of one's own, other states or a cluster: then it is all that these allow.
    """
    if named is None:
        if state is not None and state.exists():
            return tuple(KeptState.open(state).ranked.get("measures", ())) or ("all",)
        return ("all",) if has_others else (WITHOUT_BACKGROUND,)
    return tuple(named) or ("all",)


def topics_asked(named: Sequence[str] | None, state: Path | None) -> tuple[str, ...] | None:
    """The topics by name; without one those by which a state was last ranked; None: sensitive."""
    if named is None and state is not None and state.exists():
        return tuple(KeptState.open(state).ranked.get("topics", ())) or None
    return None if named is None else tuple(named)


def measure_explained(named: str | None, state: Path | None, ranked: Sequence[str] = ()) -> str:
    """The measure by name; without one the only one of those by which posts were ``ranked``.

    Of several the one by which a state, or posts alone, are ranked first.
    """
    if named is not None:
        return named
    kept = KeptState.open(state) if state is not None and state.exists() else None
    last = ranked or ((kept and kept.ranked.get("measures")) or ())
    if len(last) == 1:
        return str(last[0])
    return RECOMMENDED[0] if kept and "voice" in kept.header.spaces else WITHOUT_BACKGROUND


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
    from sottovoce.topics.load import load_model  # noqa: PLC0415 - only where one is kept

    return replace(request, spaces=(*request.spaces, load_model(folder)))


def needs_background(request: Request) -> bool:
    """Whether a measure asked for needs a background of first-person texts, and none is given."""
    wanted = {MEASURES[name].space for name in request.measures if name in MEASURES}
    return "voice" in wanted and all(each.name != "voice" for each in request.spaces)


def with_background(
    request: Request,
    posts: Iterable[pa.RecordBatch] | None,
    state: Path | None,
    say: Callable[[str], None],
) -> "tuple[Request, LearntVoice | None]":
    """The request with the background that its measures need: given, kept, or learnt now."""
    check_names(request, state)
    request = with_kept_model(request, state)
    begun = state is not None and state.exists()
    if posts is None or begun or not needs_background(request):
        return request, None
    return learnt_background(request, posts, say)


def learnt_background(
    request: Request, posts: Iterable[pa.RecordBatch], say: Callable[[str], None]
) -> tuple[Request, "LearntVoice"]:
    """The request with a background learnt from ``posts``, and that; ``say`` gets a line of it."""
    from sottovoce.topics.voice.train import learn_voice  # noqa: PLC0415 - needs the compiler

    catalogue = shipped_catalogue() if request.catalogue is None else request.catalogue
    clean = cleaning_asked(request, mode_asked(request) or "corrected")
    model = learn_voice(posts, catalogue, clean=clean)
    say(_said(len(catalogue), _unheard(model, catalogue.names)))
    return replace(request, spaces=(*request.spaces, model)), model


def _said(topics: int, unheard: Sequence[str]) -> str:
    heard = f"{topics - len(unheard)} of {topics} topics" if unheard else f"{topics} topics"
    learnt = f"background learnt from these posts for {heard}"
    return learnt + (f"; nobody speaks of {', '.join(unheard)}" if unheard else "")


def _unheard(model: "LearntVoice", names: Sequence[str]) -> list[str]:
    learnt = set(model.learnt)
    return [name for name in names if name not in learnt]
