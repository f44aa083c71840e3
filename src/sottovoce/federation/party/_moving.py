"""A party is moved to another machine: its folder, and how far it has come."""

from pathlib import Path
from typing import get_args

from sottovoce._files import whole_file
from sottovoce._moves import LEFT_BEHIND, is_archive, unpack
from sottovoce.federation._config import CONFIG_FILE, load_config
from sottovoce.federation.party._outside_count import Counted, OutsideCount
from sottovoce.federation.party._party import ConfiguredParty

_PASSING = ("-wal", "-shm", ".lock", CONFIG_FILE)


def move_party(source: Path, to: Path) -> None:
    """Pack a party's folder into an archive, after which it works nowhere; or unpack one."""
    if is_archive(source):
        unpack(source, "party", lambda name: to / name)
        return
    config = source / CONFIG_FILE
    party = ConfiguredParty(load_config(config), strict=False)
    key, moves = party.secrets.journal_key, party.moves
    # Whoever runs has the journal open, and nobody else can.
    with party.journal():
        day = moves.begin(to)
    counts = [OutsideCount(key, what) for what in get_args(Counted)]
    found = [file for file in sorted(source.rglob("*")) if not file.name.endswith(_PASSING)]
    files = [*(file for file in found if file.is_file() and not file.is_symlink()), config]
    named = {str(file.relative_to(source)): file for file in files}
    moves.pack(named, {count.key: count.seen() for count in counts}, to)
    with whole_file(config) as left:
        left.write_bytes(LEFT_BEHIND + f'{day}"\n'.encode())
