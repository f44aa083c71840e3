"""The compiled part of ``buckets``: insertion into sorted slots, and reading them."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.compiled import Whole, kernel

EMPTY = np.int32(np.iinfo(np.int32).min)
NOWHERE = -1
_USERS_AT_ONCE = 64


@kernel
def _move(
    slot_strengths: NDArray[np.float64],
    slot_buckets: NDArray[np.int32],
    following: NDArray[np.int64],
    start: NDArray[np.int64],
    room: NDArray[np.int32],
    free: NDArray[np.int64],
    kept: Whole,
    user: Whole,
) -> bool:
    """Give ``user`` a block of twice the size; whether there was one."""
    old, size = start[user], room[user]
    kind, kind_size = 0, 1
    while kind_size <= size:
        kind_size = min(2 * kind_size, kept)
        kind += 1
    if free[1 + kind] != NOWHERE:
        new = free[1 + kind]
        free[1 + kind] = following[new]
    elif free[0] + kind_size <= len(slot_strengths):
        new = free[0]
        free[0] += kind_size
    else:
        return False
    for slot in range(kind_size):
        for topic in range(slot_strengths.shape[1]):
            if slot < size:
                slot_strengths[new + slot, topic] = slot_strengths[old + slot, topic]
                slot_buckets[new + slot, topic] = slot_buckets[old + slot, topic]
            else:
                slot_buckets[new + slot, topic] = EMPTY
    if size > 0:
        following[old] = free[kind]
        free[kind] = old
    start[user], room[user] = new, kind_size
    return True


@kernel
def largest_in_each(
    order: NDArray[np.int64],
    begins: NDArray[np.int64],
    strengths: NDArray[np.float64],
    found: NDArray[np.float64],
) -> bool:
    """For each group of posts the largest strength per topic; whether all strengths are numbers.

    A group is ``order`` from one of ``begins``, the last but one of them, to the next.
    """
    right = True
    for group in range(begins.size - 1):
        line = found[group]
        first = strengths[order[begins[group]]]
        for topic in range(line.size):
            line[topic] = first[topic]
            right &= not np.isnan(first[topic])
        for place in range(begins[group] + 1, begins[group + 1]):
            post = strengths[order[place]]
            for topic in range(line.size):
                right &= not np.isnan(post[topic])
                better = post[topic] > line[topic]
                line[topic] = post[topic] if better else line[topic]
    return right


@kernel
def make_way(
    slot_strengths: NDArray[np.float64],
    slot_buckets: NDArray[np.int32],
    following: NDArray[np.int64],
    start: NDArray[np.int64],
    room: NDArray[np.int32],
    free: NDArray[np.int64],
    kept: Whole,
    users: NDArray[np.int64],
    buckets: NDArray[np.int32],
    done: Whole,
) -> Whole:
    """Give users a slot for each new bucket, from row ``done`` on; the row at which slots gave out.

    A user's rows stand together; a bucket that comes twice costs a slot more. Until a user has as
    many buckets as are kept, every topic has the same ones: the first topic tells which are new.
    """
    row = done
    while row < users.size:
        user, begin = users[row], row
        used, added = 0, 0
        while used < room[user] and slot_buckets[start[user] + used, 0] != EMPTY:
            used += 1
        while row < users.size and users[row] == user:
            new = used < kept
            for slot in range(used):
                new &= slot_buckets[start[user] + slot, 0] != buckets[row]
            added += new
            row += 1
        while room[user] < min(kept, used + added):
            if not _move(slot_strengths, slot_buckets, following, start, room, free, kept, user):
                return begin
    return users.size


@kernel
def insert(
    slot_strengths: NDArray[np.float64],
    slot_buckets: NDArray[np.int32],
    start: NDArray[np.int64],
    room: NDArray[np.int32],
    users: NDArray[np.int64],
    buckets: NDArray[np.int32],
    step: Whole,
    strengths: NDArray[np.float64],
    first: Whole,
    last: Whole,
) -> None:
    """Insert rows ``first`` to ``last``, for which there is room; other threads have other users.

    The bucket of a row is the same for all topics (``step`` is 0), or there is one for each of them
    (``buckets`` are rows x topics one after another, and ``step`` is 1).

    A row goes down the slots, all topics at once and without a branch: where it is better than what
    a slot holds, they change places, and what was there goes on. A topic is done where a slot was
    empty or held the row's own bucket; the last slot's is lost.
    """
    topics = strengths.shape[1]
    carried, carried_buckets = np.empty(topics), np.empty(topics, np.int32)
    own = np.empty(topics, np.int32)
    for row in range(first, last):
        begin = row * topics if step else row
        for topic in range(topics):
            carried[topic] = strengths[row, topic]
            own[topic] = buckets[begin + step * topic]
            carried_buckets[topic] = own[topic]
        for slot in range(start[users[row]], start[users[row]] + room[users[row]]):
            held, held_buckets = slot_strengths[slot], slot_buckets[slot]
            under_way = np.int32(0)
            for topic in range(topics):
                strength, bucket = carried[topic], carried_buckets[topic]
                other, other_bucket = held[topic], held_buckets[topic]
                earlier = (strength == other) & (bucket < other_bucket)
                better = (strength > other) | earlier | (other_bucket == EMPTY)
                better &= bucket != EMPTY
                held[topic] = strength if better else other
                held_buckets[topic] = bucket if better else other_bucket
                carried[topic] = other if better else strength
                going = other_bucket if better else bucket
                going = EMPTY if other_bucket == own[topic] else going
                carried_buckets[topic] = going
                under_way |= np.int32(going != EMPTY)
            if not under_way:
                break


@kernel
def in_order(
    used: NDArray[np.int64], buckets: NDArray[np.int32], strengths: NDArray[np.float64]
) -> bool:
    """Whether the slots of each user are as they are kept: numbers, no gap, the best first."""
    line, right = 0, True
    for user in range(used.size):
        for slot in range(line, line + used[user]):
            for topic in range(strengths.shape[1]):
                strength = strengths[slot, topic]
                right &= (buckets[slot, topic] != EMPTY) & (strength == strength)  # noqa: PLR0124 - no NaN
            if slot > line:
                for topic in range(strengths.shape[1]):
                    above, below = strengths[slot - 1, topic], strengths[slot, topic]
                    earlier = buckets[slot - 1, topic] < buckets[slot, topic]
                    right &= (above > below) | ((above == below) & earlier)
        line += used[user]
        if not right:
            return False
    return True


@kernel
def place(
    slot_strengths: NDArray[np.float64],
    slot_buckets: NDArray[np.int32],
    start: NDArray[np.int64],
    room: NDArray[np.int32],
    first: Whole,
    sizes: NDArray[np.int64],
    users: NDArray[np.int64],
    used: NDArray[np.int64],
    buckets: NDArray[np.int32],
    strengths: NDArray[np.float64],
) -> None:
    """Give users who have no block one of ``sizes`` from ``first`` on, and copy their slots."""
    line = 0
    for number in range(users.size):
        if used[number]:
            start[users[number]], room[users[number]] = first, sizes[number]
        for slot in range(sizes[number]):
            for topic in range(slot_strengths.shape[1]):
                if slot < used[number]:
                    slot_strengths[first + slot, topic] = strengths[line + slot, topic]
                    slot_buckets[first + slot, topic] = buckets[line + slot, topic]
                else:
                    slot_buckets[first + slot, topic] = EMPTY
        first += sizes[number]
        line += used[number]


@kernel
def close_gaps(
    slot_strengths: NDArray[np.float64],
    slot_buckets: NDArray[np.int32],
    start: NDArray[np.int64],
    room: NDArray[np.int32],
    order: NDArray[np.int64],
) -> Whole:
    """Move all blocks to the front, users in ``order`` of where theirs begin; the first free slot.

    A block only moves down, and past none that is still to move.
    """
    end = 0
    for user in order:
        first = start[user]
        if room[user] > 0:
            start[user] = end
            for slot in range(first, first + room[user]):
                if slot > end:
                    for topic in range(slot_strengths.shape[1]):
                        slot_strengths[end, topic] = slot_strengths[slot, topic]
                        slot_buckets[end, topic] = slot_buckets[slot, topic]
                end += 1
    return end


@kernel
def count_used(
    slot_buckets: NDArray[np.int32],
    start: NDArray[np.int64],
    room: NDArray[np.int32],
    users: NDArray[np.int64],
) -> NDArray[np.int64]:
    """How many slots each of ``users`` has in use; as many for every topic."""
    used = np.zeros(users.size, np.int64)
    for place in range(users.size):
        user = users[place]
        while used[place] < room[user] and slot_buckets[start[user] + used[place], 0] != EMPTY:
            used[place] += 1
    return used


@kernel
def gather_best(
    slot_strengths: NDArray[np.float64],
    slot_buckets: NDArray[np.int32],
    start: NDArray[np.int64],
    room: NDArray[np.int32],
    first: Whole,
    found: NDArray[np.float64],
) -> None:
    """Copy the best strengths for topics from ``first`` on into ``found``: topics x m x users."""
    topics, most, users = found.shape
    for user in range(users):
        for slot in range(min(most, room[user])):
            line = start[user] + slot
            for topic in range(topics):
                if slot_buckets[line, first + topic] != EMPTY:
                    found[topic, slot, user] = slot_strengths[line, first + topic]


@kernel
def gather_strongest(
    slot_strengths: NDArray[np.float64],
    start: NDArray[np.int64],
    room: NDArray[np.int32],
    found: NDArray[np.float64],
) -> None:
    """Copy the first slot of each user into a column of ``found``: topics x users.

    Some users at a time, so that what is read by rows is still near when it is written by columns.
    """
    topics, users = found.shape
    for first in range(0, users, _USERS_AT_ONCE):
        last = min(first + _USERS_AT_ONCE, users)
        for topic in range(topics):
            for user in range(first, last):
                if room[user] > 0:
                    found[topic, user] = slot_strengths[start[user], topic]
