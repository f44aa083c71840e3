"""Every command has its row in the table of what does the same from Python, with its defaults."""

from inspect import Parameter

import pytest
from support.counterparts import (
    COUNTERPARTS,
    Counterpart,
    commands,
    defaults_of,
    parameters_of,
    usual,
)

PAIRS = {name: each for name, each in COUNTERPARTS.items() if isinstance(each, Counterpart)}


def test_every_command_has_a_counterpart_or_a_reason() -> None:
    assert set(commands()) == set(COUNTERPARTS)
    assert all(each for each in COUNTERPARTS.values())


@pytest.mark.parametrize("name", PAIRS)
def test_a_default_is_the_same_on_the_command_line_and_in_python(name: str) -> None:
    pair, options = PAIRS[name], defaults_of(commands()[name])
    different = {}
    for python in pair.python:
        parameters = parameters_of(python)
        for option, default in options.items():
            parameter = parameters.get(pair.called.get(option, option))
            if parameter is None or parameter.default is Parameter.empty:
                continue
            if usual(parameter.default) != usual(default):
                different[option] = (python, default, parameter.default)
    assert different.keys() == set(pair.differs), different
