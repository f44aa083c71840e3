"""``sottovoce forget``."""

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.shown import AsJson, show_facts, show_json
from sottovoce.errors import ParameterError
from sottovoce.files import only_one


def forget(
    state: Annotated[Path, typer.Argument(help="State of a community, from assess --state.")],
    user: Annotated[list[str], typer.Option(help="Whom to erase.")],
    post: Annotated[
        list[str] | None,
        typer.Option(help="Delete only her posts at this time; needs assess --keep-posts."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Erase users from a state and from its alerts, as if they had never posted.

    With --post only posts of hers are erased. Files of posts, of ranks and of alerts --out are not
    touched: remove her there yourself.

    Example: sottovoce forget community.state --user ada
    """
    from sottovoce.assess.erase import delete_posts, erase_users  # noqa: PLC0415 - fast --help

    if post and len(user) != 1:
        raise ParameterError(f"--post needs exactly 1 --user, got {len(user)}.")
    with only_one(state):
        if post:
            facts = {"posts_left": delete_posts(state, user[0], _instants(post))}
        else:
            facts = {"erased": len(set(user)), "users_left": erase_users(state, user)}
    if as_json:
        show_json(facts)
    else:
        show_facts("Erased", facts)


def _instants(written: list[str]) -> list[int]:
    """Microseconds since 1970 of times in ISO 8601, UTC where they name no zone."""
    import pyarrow as pa  # noqa: PLC0415 - keeps --help fast

    from sottovoce.corpus.reading.times import to_instants  # noqa: PLC0415 - keeps --help fast

    instants = to_instants(pa.array(written), "UTC")
    if instants.null_count:
        raise ParameterError("--post must be a time such as 2024-05-01T13:45:00Z.")
    times: list[int] = instants.cast(pa.int64()).to_pylist()
    return times
