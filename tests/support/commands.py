"""Commands as they are typed, in one text, and what they answer."""

import json
from typing import Any

from support.shown import Run


def answer(run: Run, words: str, *more: object) -> tuple[str, str]:
    """What a command that ends well says, to standard output and to standard error."""
    code, out, err = run(*words.split(), *more)
    assert code == 0, err
    return out, err


def done(run: Run, words: str, *more: object) -> str:
    return answer(run, words, *more)[0]


def asked(run: Run, words: str, *more: object) -> Any:  # noqa: ANN401 - any JSON
    return json.loads(done(run, words, *more, "--json"))


def refused(run: Run, words: str, *said: str) -> str:
    """Why a command is refused; each of the words given is said."""
    code, out, err = run(*words.split())
    assert (code, out) == (2, ""), (code, out, err)
    for each in said:
        assert each in err, (each, err)
    return err
