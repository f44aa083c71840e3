"""The forms of requests and answers: what OpenAPI shows and what is enforced are one thing."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.shares import PUBLIC_BYTES, input_share_bytes

LARGEST_PERIOD = (1 << 53) - 1


def whole(value: Any) -> Any:  # noqa: ANN401 - whatever was sent
    """1.0 is a whole number to JSON, and "1" or true is none: nor are they here."""
    if isinstance(value, list):
        return [whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


Period = Annotated[int, Field(ge=0, le=LARGEST_PERIOD, strict=True), BeforeValidator(whole)]
Octets = Annotated[str, Field(pattern="^([0-9a-f]{2})*$")]
"""Bytes in hexadecimal digits."""
Token = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$", min_length=32, max_length=32)]


class Strict(BaseModel):
    """Nothing but the named fields, of the named types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


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
    k: float
    m: int
    bucket: str
    period_s: int
    minimum_reports: int
    topics: list[TopicForm]
    key: str = ""
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
    """A noised report: every entry is a bit."""
    entry = Annotated[int, Field(ge=0, le=1, strict=True)]
    numbers = [topic.buckets.number for topic in description.topics]
    length = Field(min_length=min(numbers), max_length=max(numbers))
    entries = Annotated[list[entry], length, BeforeValidator(whole)]
    return _form("NoisedReport", description, entries=(entries, ...))


def share_form(description: Description, place: int) -> type[BaseModel]:
    """A report of Prio3 as the first server (0) or the second gets it: bytes in hexadecimal."""
    lengths = [
        2 * input_share_bytes(description, topic.name, place) for topic in description.topics
    ]
    own = _hexadecimal(min(lengths), max(lengths))
    public = _hexadecimal(2 * PUBLIC_BYTES, 2 * PUBLIC_BYTES)
    return _form("SharedReport", description, public_share=(public, ...), input_share=(own, ...))


def _hexadecimal(fewest: int, most: int) -> Any:  # noqa: ANN401 - a type made at run time
    digits = Field(
        pattern=f"^([0-9a-f]{{2}}){{{fewest // 2},{most // 2}}}$",
        min_length=fewest,
        max_length=most,
    )
    return Annotated[str, digits]


def _form(
    name: str,
    description: Description,
    **vector: Any,  # noqa: ANN401 - a field made at run time
) -> type[BaseModel]:
    fields: dict[str, Any] = {
        "topic": (topic_names(description), ...),
        "period": (Period, ...),
        "id": (Token, ...),
        "description": (Literal[(description.version,)], ...),
        "admission": (Token | None, None),
    }
    return create_model(name, __base__=Strict, **fields, **vector)
