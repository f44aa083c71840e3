"""Every route against its own description, with generated requests, good and bad."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import positive_data_acceptance
from support.advisor_page import PageClient, routes_of, served

EMPTIES = {"/delete"}
EXAMPLES = pytest.mark.parametrize("examples", [2, pytest.param(20, marks=pytest.mark.long)])
seldom = settings(
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageClient]:
    """The page with the demo community."""
    with served(tmp_path_factory.mktemp("page")) as client:
        client.post("/start/demo")
        yield client


@pytest.fixture(scope="module")
def described(visited: PageClient) -> schemathesis.BaseSchema:
    """The page's own OpenAPI document."""
    return schemathesis.openapi.from_url(f"{visited.home}/openapi.json", headers=signed(visited))


def signed(client: PageClient) -> dict[str, str]:
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in client.cookies.jar)
    return {"cookie": cookies, "origin": client.home, "sec-fetch-site": "same-origin"}


def check_routes(
    client: PageClient, described: schemathesis.BaseSchema, mode: GenerationMode, examples: int
) -> int:
    checked = 0
    # What deletes comes last, so that the others meet a page that is full.
    operations = [found.ok() for found in described.get_all_operations()]  # type: ignore[union-attr] # else it fails
    for operation in sorted(operations, key=lambda one: one.path in EMPTIES):
        if mode is GenerationMode.NEGATIVE and not (operation.query or operation.body):
            continue

        @settings(seldom, max_examples=examples)
        @given(case=operation.as_strategy(generation_mode=mode))
        def each(case: schemathesis.Case[Any]) -> None:
            # What a file must hold is more than a schema can say.
            left_out = [positive_data_acceptance] if case.path == "/start/upload" else []
            case.call_and_validate(headers=signed(client), excluded_checks=left_out)

        each()
        checked += 1
    return checked


@EXAMPLES
def test_every_route_keeps_to_its_description_when_asked_rightly(
    visited: PageClient, described: schemathesis.BaseSchema, examples: int
) -> None:
    checked = check_routes(visited, described, GenerationMode.POSITIVE, examples)
    assert checked == len(routes_of(visited.page)) >= 24


@EXAMPLES
def test_every_route_that_takes_something_refuses_what_its_description_forbids(
    visited: PageClient, described: schemathesis.BaseSchema, examples: int
) -> None:
    assert check_routes(visited, described, GenerationMode.NEGATIVE, examples) >= 15
