"""Alerts: who entered a band since the last check, without flicker at its border.

A user enters the top p% when at most p% of all users score as high as she does or higher; she
leaves it only when more than p (1 + h)% do, where h is the hysteresis. Who is in which band is
kept in a private file beside the state.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce.assess.measures.catalogue import Measure
from sottovoce.assess.measures.entropy import check_community
from sottovoce.assess.ranking import BANDS, chosen_topics, users_at_least_as_exposed
from sottovoce.assess.setting import Setting
from sottovoce.assess.state import State
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import whole_file

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
        for percent in bands:
            place = (measure, topic, percent)
            was = _members(before, place, names)
            now = _within(at_least, percent, was, hysteresis)
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
        raise InputError(f"{path} is no file of alerts, or it is damaged; remove it.") from None


def save_alerts(path: Path, members: pa.Table, out: Path | None, changes: pa.Table) -> None:
    """Write who is in which band and, if ``out`` is given, who entered or left: both or none."""
    with ExitStack() as files:
        kept = files.enter_context(whole_file(path, private=True))
        pq.write_table(members, kept, compression="zstd")
        if out is not None:
            listed = files.enter_context(whole_file(out, private=True))
            pq.write_table(changes, listed, compression="zstd")


def _all_scores(
    state: State,
    measures: Mapping[str, Measure],
    topics: Sequence[str] | None,
    setting: Setting,
) -> Iterator[tuple[str, str, NDArray[np.float64]]]:
    for name, measure in measures.items():
        for topic in chosen_topics(state, topics):
            yield name, topic, measure.score(state, topic, setting)


def _within(
    at_least: NDArray[np.int64], percent: int, was: NDArray[np.bool_], hysteresis: float
) -> NDArray[np.bool_]:
    """Who is in the top ``percent`` now, given who was."""
    users = at_least.size
    wide = Fraction(percent, 100) * (1 + Fraction(repr(float(hysteresis)))) * users
    enter = at_least * 100 <= percent * users
    return enter | (was & (at_least <= wide.numerator // wide.denominator))


def _members(before: pa.Table, place: tuple[str, str, int], names: pa.Array) -> NDArray[np.bool_]:
    listed = before.filter(_at(before, place))["user"].combine_chunks()
    found: NDArray[np.bool_] = pc.is_in(names, value_set=listed).to_numpy(zero_copy_only=False)
    return found


def _at(table: pa.Table, place: tuple[str, str, int]) -> pa.ChunkedArray:
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
