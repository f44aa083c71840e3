"""Erasing users from what is kept of a community."""

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sottovoce.assess.alerts import alerts_file, load_members
from sottovoce.assess.state_file import load_ranked, load_state, save_state, write_state
from sottovoce.files import whole_file


def delete_posts(state_file: Path, user: str, times: Sequence[int]) -> int:
    """Drop a user's posts at ``times`` (microseconds since 1970); how many posts are left."""
    state = load_state(state_file).without_posts(user, times)
    save_state(state_file, state, load_ranked(state_file))
    return int(state.posts.sum())


def erase_users(state_file: Path, users: Sequence[str]) -> int:
    """Drop all that is known of ``users`` from a state and its alerts; how many are left.

    Both files are finished before the first gets its name.
    """
    state = load_state(state_file)
    for user in dict.fromkeys(users):
        state = state.without(user)
    members_file = alerts_file(state_file)
    with ExitStack() as files:
        write_state(
            files.enter_context(whole_file(state_file, private=True)),
            state,
            load_ranked(state_file),
        )
        if members_file.exists():
            members = load_members(members_file)
            named = pc.is_in(members["user"], value_set=pa.array(users, pa.string()))
            temporary = files.enter_context(whole_file(members_file, private=True))
            pq.write_table(members.filter(pc.invert(named)), temporary, compression="zstd")
    return len(state)
