"""Asking a party: one that runs, or the journal of one that does not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sottovoce.cli._options import needs_extra
from sottovoce.cli.learn._output import loaded, wait_for_start, watched_progress
from sottovoce.errors import NotRunningError


def watched(config: Path, request: Mapping[str, Any], title: str, *, wait: float = 0) -> Any:  # noqa: ANN401 - JSON
    """Ask a running party for a run; show how it stands; its summary."""
    found = loaded(config)
    wait_for_start(found, wait)
    with needs_extra("federation"):
        from sottovoce.federation.party.control import ask  # noqa: PLC0415 - fast --help

    done: Mapping[str, Any] = {}
    with watched_progress(title) as line:
        for done in ask(found.path(found.party.store), request):
            if "progress" in done:
                line.show(done["progress"])
    return done["value"]


def asked_or_read(config: Path, request: Mapping[str, Any], *, wait: float = 0) -> Any:  # noqa: ANN401 - JSON
    """What a party says, or its journal where it does not run."""
    found = loaded(config)
    wait_for_start(found, wait)
    with needs_extra("federation"):
        from sottovoce.federation.party.control import ask_once  # noqa: PLC0415 - fast --help
        from sottovoce.federation.party.offline import answer_offline  # noqa: PLC0415 - fast --help

    try:
        return ask_once(found.path(found.party.store), request)
    except NotRunningError:
        return answer_offline(found, request)
