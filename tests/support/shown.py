"""What a command left behind that ran in this process."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias


class Shown(NamedTuple):
    """Its exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever the command printed
        """What it printed, where it ended well."""
        assert self.code == 0, self.err
        return json.loads(self.out)


Run: TypeAlias = Callable[..., Shown]
