"""Erasing users, or single posts of theirs, from a state and from the alerts kept beside it."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sottovoce._files import whole_file
from sottovoce.assess._alerts import alerts_file, load_members
from sottovoce.assess.state._parts import load_ranked, load_state, remove_erased, write_state
from sottovoce.assess.state._state import State
from sottovoce.errors import InputError


def delete_posts(state_file: Path, user: str, times: Sequence[int]) -> int:
    """Drop a user's posts at ``times`` (microseconds since 1970); how many posts are left.

    Who has no post left is dropped from the alerts too.
    """
    remove_erased(state_file)
    state = load_state(state_file).without_posts(user, times)
    _save(state_file, state, [user] if state.users.row(user) is None else [])
    return int(state.posts.sum())


def erase_users(state_file: Path, users: Sequence[str]) -> int:
    """Drop all that is known of ``users`` from a state and its alerts; how many are left."""
    remove_erased(state_file)
    state = load_state(state_file)
    alerted = set(load_members(alerts_file(state_file))["user"].to_pylist())
    for user in dict.fromkeys(users):
        if state.users.row(user) is not None:
            state = state.without(user)
        elif user not in alerted:
            raise InputError("the user is not in this state, nor in its alerts.")
    _save(state_file, state, users)
    return len(state)


def _save(state_file: Path, state: State, erased: Sequence[str]) -> None:
    """Write state and alerts; both files are finished before the first gets its name.

    The state is one file then, and parts that held the erased are removed.
    """
    members_file = alerts_file(state_file)
    with ExitStack() as files:
        temporary = files.enter_context(whole_file(state_file, private=True))
        write_state(temporary, state, load_ranked(state_file))
        if erased and members_file.exists():
            members = load_members(members_file)
            named = pc.is_in(members["user"], value_set=pa.array(erased, pa.string()))
            temporary = files.enter_context(whole_file(members_file, private=True))
            pq.write_table(members.filter(pc.invert(named)), temporary, compression="zstd")
    remove_erased(state_file)
