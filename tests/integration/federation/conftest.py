"""Parties whose processes start at once."""

import subprocess
import sys
from typing import Any

import pytest
from support.warm_python import WarmPopen

from sottovoce.federation.party import _processes


class _Subprocess:
    """Of `subprocess` what starts parties."""

    DEVNULL = subprocess.DEVNULL

    @staticmethod
    def Popen(command: list[str], **options: Any) -> "subprocess.Popen[Any]":  # noqa: ANN401, N802 - of subprocess
        # A network namespace is entered by another program, which starts the interpreter.
        starts = WarmPopen if command[0] == sys.executable else subprocess.Popen
        return starts(command, **options)


@pytest.fixture(autouse=True)
def parties_that_start_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `running_parties` starts has its imports already; the page's scenario starts its own."""
    monkeypatch.setattr(_processes, "subprocess", _Subprocess)
