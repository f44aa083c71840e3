"""Alerts: who entered a band since the last check, without flicker at its border.

A user enters the top p% when at most p% of all users score as high as they do or higher; they
leave it only when more than p (1 + h)% do, where h is the hysteresis. Who is in which band is
kept in a private file beside the state.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce._notebook import html_table, text_table
from sottovoce.assess.measures.catalogue import BandedLifts, banded_lifts, chosen_measures
from sottovoce.assess.measures.measure import Measure, check_community
from sottovoce.assess.ranking import BANDS, chosen_topics, users_at_least_as_exposed
from sottovoce.assess.ranks_file import check_ending, write_rows
from sottovoce.assess.setting import Setting
from sottovoce.assess.state.parts import earlier_folder, load_ranked, load_state
from sottovoce.assess.state.state import State
from sottovoce.corpus.schema import FrameLibrary, as_frame
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import only_one, refuse_overlap, whole_file

HYSTERESIS = 0.2
MEMBERS = pa.schema(
    [
        pa.field("measure", pa.string(), nullable=False),
        pa.field("topic", pa.string(), nullable=False),
        pa.field("percent", pa.int64(), nullable=False),
        pa.field("user", pa.string(), nullable=False),
    ]
)
CHANGES = MEMBERS.append(pa.field("entered", pa.bool_(), nullable=False))


@dataclass(frozen=True, repr=False)
class Alerts:
    """Who entered or left a band since the last check; printed it shows counts only.

    >>> Alerts(CHANGES.empty_table())
    Alerts(entered=0, left=0)
    """

    table: pa.Table
    """measure, topic, percent, user, entered."""

    @cached_property
    def summary(self) -> tuple[dict[str, object], ...]:
        """How many users entered and left each band."""
        keys = ["measure", "topic", "percent", "entered"]
        counted = self.table.group_by(keys, use_threads=False).aggregate([("user", "count")])
        return tuple(
            {
                **{name: row[name] for name in keys[:3]},
                "change": "entered" if row["entered"] else "left",
                "users": row["user_count"],
            }
            for row in counted.to_pylist()
        )

    def lifts(self, concerned: float | None = None) -> BandedLifts:
        """What the bands are worth, as `Ranking.lifts`."""
        return banded_lifts(self.table["measure"].to_pylist(), concerned)

    def to_frame(self, library: FrameLibrary = "arrow") -> Any:  # noqa: ANN401 - a frame of any library
        """All changes as a table of ``arrow``, or a frame of ``pandas`` or ``polars``."""
        return as_frame(self.table, library)

    def __repr__(self) -> str:
        entered = int(pc.sum(self.table["entered"], min_count=0).as_py())
        return f"Alerts(entered={entered}, left={self.table.num_rows - entered})"

    def __str__(self) -> str:
        return f"{self!r}\n{text_table(self.summary)}"

    def _repr_html_(self) -> str:
        return html_table(self.summary, "Since the last check")


def check_alerts(
    state_file: Path,
    *,
    measures: Sequence[str] | None = None,
    topics: Sequence[str] | None = None,
    k: float | None = None,
    m: int | None = None,
    bands: Sequence[int] = BANDS,
    hysteresis: float = HYSTERESIS,
    out: Path | None = None,
) -> Alerts:
    """Who entered or left a band of a state since the last check, which this becomes.

    What is None is as the state was last ranked; ``out`` gets the changes: CSV, Parquet or JSON
    Lines, as its ending says.
    """
    kept = alerts_file(state_file)
    refuse_overlap((out,), (state_file, kept, earlier_folder(state_file)))
    check_ending(out, spark=False)
    with only_one(state_file):
        held, ranked = load_state(state_file), load_ranked(state_file)
        names = ranked.get("measures", ["all"]) if measures is None else measures
        topics = ranked.get("topics") if topics is None else topics
        changes, members = check_bands(
            held,
            chosen_measures(names, tuple(held.spaces)),
            load_members(kept),
            topics=topics,
            setting=Setting(
                k=ranked.get("k", 0.3) if k is None else k,
                m=ranked.get("m", 3) if m is None else m,
                mode=held.header.mode,
            ),
            bands=bands,
            hysteresis=hysteresis,
        )
        save_alerts(kept, members, out, changes)
    return Alerts(changes)


def alerts_file(state_file: Path) -> Path:
    """Where the members of bands are kept: beside the state."""
    return state_file.with_name(f"{state_file.name}.alerts")


def check_bands(
    state: State,
    measures: Mapping[str, Measure],
    before: pa.Table,
    *,
    topics: Sequence[str] | None = None,
    setting: Setting = Setting(),  # noqa: B008 - frozen
    bands: Sequence[int] = BANDS,
    hysteresis: float = HYSTERESIS,
) -> tuple[pa.Table, pa.Table]:
    """Who entered or left a band since ``before``, and who is in which now."""
    _check(bands, hysteresis)
    check_community(len(state))
    names = state.users.names().cast(pa.string())
    changes, members = [], []
    for measure, topic, scores in _all_scores(state, measures, topics, setting):
        at_least = users_at_least_as_exposed(scores)
        # What parts the scores where nobody has evidence is not the topic.
        anybody = measures[measure].evident(state, topic).any()
        for percent in bands:
            place = (measure, topic, percent)
            was = _members(before, place, names)
            now = _find_members(at_least, percent, was, hysteresis) & anybody
            members.append(_table(MEMBERS, place, names, now))
            for mask, entered in ((now & ~was, True), (was & ~now, False)):
                changes.append(_table(CHANGES, place, names, mask, entered))
    others = _other_places(before, measures, chosen_topics(state, topics), bands)
    return pa.concat_tables(changes), pa.concat_tables([*members, others])


def load_members(path: Path) -> pa.Table:
    """Who was in which band at the last check; nobody where there was none."""
    if not path.exists():
        return MEMBERS.empty_table()
    try:
        return pq.ParquetFile(path).read().cast(MEMBERS)
    except (OSError, pa.ArrowException, ValueError):
        raise InputError(f"{path} is not a file of alerts, or it is damaged; remove it.") from None


def save_alerts(path: Path, members: pa.Table, out: Path | None, changes: pa.Table) -> None:
    """Write who is in which band and, if ``out`` is given, who entered or left: both or none."""
    with ExitStack() as files:
        kept = files.enter_context(whole_file(path, private=True))
        pq.write_table(members, kept, compression="zstd")
        if out is not None:
            listed = files.enter_context(whole_file(out, private=True))
            write_rows(listed, changes, out.suffix)


def _all_scores(
    state: State, measures: Mapping[str, Measure], topics: Sequence[str] | None, setting: Setting
) -> Iterator[tuple[str, str, NDArray[np.float64]]]:
    for name, measure in measures.items():
        for topic in chosen_topics(state, topics):
            yield name, topic, measure.score(state, topic, setting)


def _find_members(
    at_least: NDArray[np.int64], percent: int, was: NDArray[np.bool_], hysteresis: float
) -> NDArray[np.bool_]:
    """Who is in the top ``percent`` now, given who was."""
    users = at_least.size
    wide = Fraction(percent, 100) * (1 + Fraction(repr(float(hysteresis)))) * users
    enter = at_least * 100 <= percent * users
    return enter | (was & (at_least <= wide.numerator // wide.denominator))


def _members(before: pa.Table, place: tuple[str, str, int], names: pa.Array) -> NDArray[np.bool_]:
    listed = before.filter(_match_place(before, place))["user"].combine_chunks()
    found: NDArray[np.bool_] = pc.is_in(names, value_set=listed).to_numpy(zero_copy_only=False)
    return found


def _match_place(table: pa.Table, place: tuple[str, str, int]) -> pa.ChunkedArray:
    same = [pc.equal(table[name], value) for name, value in zip(MEMBERS.names, place, strict=False)]
    return pc.and_(pc.and_(same[0], same[1]), same[2])


def _other_places(
    before: pa.Table, measures: Mapping[str, Measure], topics: Sequence[str], bands: Sequence[int]
) -> pa.Table:
    """What is known of bands that were not checked this time."""
    checked = [
        pc.is_in(before["measure"], value_set=pa.array(list(measures), pa.string())),
        pc.is_in(before["topic"], value_set=pa.array(list(topics), pa.string())),
        pc.is_in(before["percent"], value_set=pa.array(list(bands), pa.int64())),
    ]
    return before.filter(pc.invert(pc.and_(pc.and_(checked[0], checked[1]), checked[2])))


def _table(
    schema: pa.Schema,
    place: tuple[str, str, int],
    names: pa.Array,
    mask: NDArray[np.bool_],
    *more: object,
) -> pa.Table:
    users = names.filter(pa.array(mask)).sort()
    columns = [pa.repeat(pa.scalar(value), len(users)) for value in place]
    others = [pa.repeat(pa.scalar(value), len(users)) for value in more]
    return pa.Table.from_arrays([*columns, users, *others], schema=schema)


def _check(bands: Sequence[int], hysteresis: float) -> None:
    for percent in bands:
        if not 0 < percent < 100:  # noqa: PLR2004 - percent
            raise ParameterError(f"a band must be > 0 and < 100 percent, got {percent}.")
    if not 0 <= hysteresis < float("inf"):
        raise ParameterError(f"hysteresis must be >= 0, got {hysteresis}.")
