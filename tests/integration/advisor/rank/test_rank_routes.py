"""Every route of the rank server, generated against its own OpenAPI document."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import positive_data_acceptance
from support.rank_servers import UNLIMITED, Clock, description, noise_service, pair

from sottovoce.web.rank.app import create_app
from sottovoce.web.rank.service import RankService

generated = settings(
    deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def noise(folder: Path) -> list[RankService]:
    return [noise_service(folder, Clock(), description(topics=2))]


def first(folder: Path) -> list[RankService]:
    first, second = pair(folder, Clock())
    return [first, second]


def second(folder: Path) -> list[RankService]:
    first, second = pair(folder, Clock())
    return [second, first]


@pytest.mark.parametrize("examples", [3, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize(
    ("servers", "routes"), [(noise, 4), (first, 4), (second, 6)], ids=["noise", "first", "second"]
)
def test_every_route_keeps_to_its_document(
    servers: Callable[[Path], list[RankService]],
    routes: int,
    mode: GenerationMode,
    examples: int,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    services = servers(tmp_path)
    for service in services:
        request.addfinalizer(service.close)
    schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(services[0], UNLIMITED))
    operations = [found.ok() for found in schema.get_all_operations()]  # type: ignore[union-attr] # else it fails
    assert len(operations) == routes
    for operation in operations:

        @settings(generated, max_examples=examples)
        @given(case=operation.as_strategy(generation_mode=mode))
        def keeps_to_its_document(case: schemathesis.Case[Any]) -> None:
            # How many ones a report has is a rule of its topic, which a schema cannot tell.
            noised = servers is noise and case.method == "POST"
            left_out = [positive_data_acceptance] if noised else []
            case.call_and_validate(excluded_checks=left_out)

        # There is nothing to get wrong about a request without parameters.
        if mode is GenerationMode.POSITIVE or operation.path != "/description":
            keeps_to_its_document()
