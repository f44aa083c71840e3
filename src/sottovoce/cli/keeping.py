"""Options and steps of commands that keep where they are: a state, a checkpoint, or both."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.errors import InputError, ParameterError

if TYPE_CHECKING:
    from sottovoce.assess.checkpoints import Keeping

CheckpointOption = Annotated[
    Path | None, typer.Option(help="Folder for what is done so far; guard it like the posts.")
]
CheckpointEveryOption = Annotated[
    float, typer.Option(help="Seconds between two checkpoints; 0: after each batch.")
]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint.")]


def the_keeping(folder: Path | None, every_s: float, resume: bool) -> "Keeping | None":
    """The options --checkpoint, --checkpoint-every and --resume."""
    from sottovoce.assess.checkpoints import Keeping  # noqa: PLC0415 - keeps --help fast
    from sottovoce.files import check_folder  # noqa: PLC0415 - keeps --help fast

    if folder is None:
        if resume:
            raise ParameterError("--resume needs --checkpoint FOLDER, the one to go on from.")
        return None
    check_folder(folder)
    return Keeping(folder, resume, every_s)


def the_state(
    state: Path | None, update: Path | None, posts: Path | None, out: Path | None
) -> Path | None:
    """The file of --state or --update."""
    if update is None:
        if state is None and out is None:
            raise ParameterError("there is nothing to write: give --out, --state or --update.")
        return state
    if state is not None:
        raise ParameterError("--update and --state both name the state; give one of them.")
    if posts is None:
        raise ParameterError("--update needs POSTS, the new ones.")
    if not update.exists():
        raise InputError(f"there is no state {update} to update; begin one with --state.")
    return update


@contextmanager
def mentioning_resume(folder: Path | None) -> Iterator[None]:
    """Say on the way out of a stopped command that it can go on."""
    from sottovoce.cli import Stopped  # noqa: PLC0415 - it imports the commands

    try:
        yield
    except Stopped:
        if folder is not None and any(folder.glob("state-*")):
            typer.echo("The same command with --resume goes on from the last checkpoint.", err=True)
        raise
