"""Whether a release fits the disks that it is to lie on, before anything is spent."""

import shutil
from pathlib import Path

from sottovoce._files import nearest_folder
from sottovoce.errors import InputError
from sottovoce.release._inputs import CountsElsewhere
from sottovoce.release._plan import ReleasePlan, Sized

# A count and its column, in the uncompressed archive that the ledger keeps; and in a shard.
_BYTES_PER_CELL, _BYTES_PER_SHARD_CELL = 12, 4


def check_room(folder: Path | None, outputs: Path, plan: ReleasePlan, counts: Sized) -> None:
    """Refuse before anything is spent what the disk could not hold, in the ledger's folder too."""
    cells = plan.expected_nonzeros(counts)
    if isinstance(counts, CountsElsewhere):
        # Shards are kept once, where they are written.
        places = [] if folder is None else [nearest_folder(folder)]
        needed = cells * _BYTES_PER_SHARD_CELL
    else:
        places = [nearest_folder(outputs), *([] if folder is None else [nearest_folder(folder)])]
        shared = len({place.stat().st_dev for place in places}) < len(places)
        needed = cells * _BYTES_PER_CELL * (1 + shared)
    free = min((shutil.disk_usage(place).free for place in places), default=needed)
    if free < needed:
        raise InputError(
            f"the release needs about {_in_bytes(needed)} of disk, {_in_bytes(free)} are free; "
            "nothing was spent or released."
        )


def _in_bytes(number: int) -> str:
    """So many bytes, in the largest unit of which there is one."""
    units = ("bytes", "kB", "MB", "GB", "TB")
    place = min(len(units) - 1, (len(str(number)) - 1) // 3)
    return f"{number / 1000**place:.1f} {units[place]}" if place else f"{number} bytes"
