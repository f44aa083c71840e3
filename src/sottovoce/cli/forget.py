"""``sottovoce forget``."""

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.shown import AsJson, show_facts, show_json


def forget(
    state: Annotated[Path, typer.Argument(help="State of a community, from assess --state.")],
    user: Annotated[list[str], typer.Option(help="Whom to erase.")],
    as_json: AsJson = False,
) -> None:
    """Erase users from a state and from its alerts, as if they had never posted.

    Files of posts and of ranks are not touched: remove her there yourself.

    Example: sottovoce forget community.state --user ada
    """
    from sottovoce.assess.erase import erase_users  # noqa: PLC0415 - keeps --help fast

    left = erase_users(state, user)
    facts = {"erased": len(set(user)), "users_left": left}
    if as_json:
        show_json(facts)
    else:
        show_facts("Erased", facts)
