"""Every command has its row in the table of what does the same from Python, with its defaults."""

from inspect import Parameter

import msgspec
import pytest
from support.counterparts import (
    COUNTERPARTS,
    Counterpart,
    commands,
    defaults_of,
    parameters_of,
    usual,
)

from sottovoce.federation.config import CountSettings, TrainingSettings

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


@pytest.mark.parametrize(
    ("settings", "python"),
    [(TrainingSettings, "sottovoce.train"), (CountSettings, "sottovoce.count_together")],
)
def test_a_federation_proposes_what_a_call_in_python_takes(
    settings: type[msgspec.Struct], python: str
) -> None:
    """Where party.toml says nothing; the fields of recipes are compared with their own."""
    parameters = parameters_of(python)
    compared = {
        name: (default, parameters[name].default)
        for name, default in msgspec.structs.asdict(settings()).items()
        if name in parameters and parameters[name].default is not Parameter.empty
    }
    assert len(compared) >= 3
    assert all(usual(here) == usual(there) for here, there in compared.values()), compared
