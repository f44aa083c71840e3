"""The forms of requests and answers: what OpenAPI shows and what is enforced are one thing."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.prime_field import PRIME
from sottovoce.advisor.rank.shares import SQUARE

LARGEST_PERIOD = (1 << 53) - 1
Period = Annotated[int, Field(ge=0, le=LARGEST_PERIOD, strict=True)]
Token = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", min_length=32, max_length=32)]


class Strict(BaseModel):
    """Nothing but the named fields, of the named types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Problem(BaseModel):
    """Why a request was refused."""

    detail: str


class Kept(BaseModel):
    """A report is stored, durably."""

    stored: Literal[True] = True


class TopicForm(BaseModel):
    """One topic and the edges between its buckets."""

    name: str
    measure: str
    edges: list[float]


class DescriptionForm(BaseModel):
    """The server's rules and the running period."""

    protocol: int
    mode: Literal["noise", "shares"]
    epsilon: str
    precision: int
    setting: str
    period_s: int
    minimum_reports: int
    reach: int
    topics: list[TopicForm]
    version: str
    period: int
    ends: int


class Periods(BaseModel):
    """The latest periods with a published histogram, the latest first."""

    periods: list[int]


class HistogramForm(BaseModel):
    """A published histogram; its counts are null where too few people reported."""

    topic: str
    period: int
    description: str
    reports: int
    counts: list[float] | None
    at_least: list[float] | None


def topic_names(description: Description) -> Any:  # noqa: ANN401 - a type made at run time
    """The type of the names of the server's topics."""
    return Literal[tuple(description.by_name)]


def noised_form(description: Description) -> type[BaseModel]:
    """A noised report: every entry within the public bound."""
    noise = description.noise(description.topics[0].name)
    entry = Annotated[int, Field(ge=noise.lowest, le=noise.highest, strict=True)]
    return _form("NoisedReport", description, "entries", entry, 0)


def share_form(description: Description) -> type[BaseModel]:
    """One share of a report: every number a residue."""
    number = Annotated[int, Field(ge=0, lt=PRIME, strict=True)]
    return _form("ShareReport", description, "share", number, SQUARE)


def _form(
    name: str,
    description: Description,
    field: str,
    item: Any,  # noqa: ANN401 - a type made at run time
    more: int,
) -> type[BaseModel]:
    numbers = [topic.buckets.number + more for topic in description.topics]
    vector = Annotated[list[item], Field(min_length=min(numbers), max_length=max(numbers))]
    fields: dict[str, Any] = {
        "topic": (topic_names(description), ...),
        "period": (Period, ...),
        "id": (Token, ...),
        "description": (Literal[(description.version,)], ...),
        field: (vector, ...),
    }
    return create_model(name, __base__=Strict, **fields)
