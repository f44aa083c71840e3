"""What a rank server publishes about itself, everything a report and a rank depend on; asking it.

Its version is a hash of the whole, so that reports, histograms and what a person has spent belong
to one description for ever.
"""

import hashlib
import http.client
import ipaddress
import json
import math
import re
import socket
import ssl
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

from sottovoce.advisor.rank.noise import MOVED, OneHotNoise, check_number
from sottovoce.assess.setting import Bucket, Setting
from sottovoce.errors import InputError, ParameterError, ProtocolError, RefusedError
from sottovoce.files import cause_of, refuse_open_to_others
from sottovoce.parsing import parse_json
from sottovoce.privacy.exact import positive, whole_number

BUCKETS = 20
_SPACES = {"bow": (0.0, 1.0), "lda": (0.0, 1.0), "voice": (0.0, 1.0), "w2v": (-1.0, 1.0)}


@dataclass(frozen=True)
class Buckets:
    """Buckets between ``edges``: bucket j holds the scores from edge j - 1 on, and below edge j.

    The lowest bucket is open below and the highest above, so that every score has one, an infinite
    one too. The more exposed a person is, the higher their bucket.
    """

    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        check_number(len(self.edges) + 1)
        if not all(map(math.isfinite, self.edges)):
            raise ParameterError("the edges of buckets must be finite numbers.")
        if any(below >= above for below, above in pairwise(self.edges)):
            raise ParameterError("the edges of buckets must increase.")

    @classmethod
    def even(cls, low: float, high: float, number: int = BUCKETS) -> "Buckets":
        """``number`` buckets of one width between ``low`` and ``high``."""
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ParameterError(f"a range of scores must go up, got {low:g} to {high:g}.")
        check_number(number)
        return cls(tuple(low + (high - low) * j / number for j in range(1, number)))

    @property
    def number(self) -> int:
        """How many buckets there are."""
        return len(self.edges) + 1

    def find(self, score: float) -> int:
        """The bucket of ``score``, from 0."""
        if math.isnan(score):
            raise ParameterError("a score must be a number, got none.")
        return bisect_right(self.edges, score)


def score_range(measure: str) -> tuple[float, float]:
    """Between which bounds the scores of ``measure`` lie.

    Strengths are cosines; breadth of interest, another cosine, is taken off in -D and -DT.
    """
    space, _, variant = measure.partition("-")
    if space not in _SPACES or variant not in {"", "d", "t", "dt"}:
        raise ParameterError(
            f"the measure {measure!r} has no bounds that are known beforehand; give a range, or "
            f"one of {', '.join(_SPACES)}, each also with -d, -t or -dt."
        )
    low, high = _SPACES[space]
    return (low - high, high - low) if variant.startswith("d") else (low, high)


Mode: TypeAlias = Literal["noise", "shares"]
MODES: tuple[Mode, ...] = ("noise", "shares")
PROTOCOL = 1
FEWEST_REPORTS = 100
# One report would be a sum of its own; two are as few as a test needs.
LEAST_MINIMUM = 2
COVERAGE = 0.95
_LONGEST_NAME = 100


@dataclass(frozen=True)
class RankedTopic:
    """One topic, the measure that scores it, and the buckets of its scores."""

    name: str
    measure: str
    buckets: Buckets

    def __post_init__(self) -> None:
        for text in (self.name, self.measure):
            if not text.isprintable() or not 1 <= len(text) <= _LONGEST_NAME or "/" in text:
                raise ParameterError(
                    "the names of topics and measures must be printable, without a slash, and at "
                    f"most {_LONGEST_NAME} characters; rename the topic in the catalogue."
                )

    def record(self) -> dict[str, Any]:
        """The topic as JSON."""
        return {"name": self.name, "measure": self.measure, "edges": list(self.buckets.edges)}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "RankedTopic":
        """What `record` wrote; an error of whatever kind where it did not."""
        edges = tuple(map(float, record["edges"]))
        return cls(str(record["name"]), str(record["measure"]), Buckets(edges))


@dataclass(frozen=True)
class Description:
    """The public rules of one rank server.

    Attributes:
        mode: ``noise`` or ``shares``.
        epsilon: the cost of one report: of each bucket once (noise), of each period (shares).
        topics: what can be reported.
        k: how scores are computed: the share of a domain's topics that a broad interest covers,
        m: the number of time buckets that a lasting interest covers, and
        bucket: their length.
        period_s: how long a period lasts; periods are counted from the Unix epoch.
        minimum: with fewer reports than this a period's histogram is withheld.
        key: of the mode of shares, what tells the servers' common key from another, and nothing of
            it. With it servers of another key have other rules: nobody's report is verified under
            two keys, by which one server could read it.
    """

    mode: Mode
    epsilon: Fraction
    topics: tuple[RankedTopic, ...]
    k: float = 0.3
    m: int = 3
    bucket: str = "1w"
    period_s: int = 7 * 24 * 3600
    minimum: int = FEWEST_REPORTS
    key: str = ""

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ParameterError(f"mode must be one of {', '.join(MODES)}.")
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        _ = Setting(self.k, self.m), Bucket.parse(self.bucket)
        if not self.topics or len(self.by_name) < len(self.topics):
            raise ParameterError("a rank server needs at least 1 topic, each of another name.")
        if self.period_s < 1:
            raise ParameterError(f"a period must last at least 1 second, got {self.period_s}.")
        if self.minimum < LEAST_MINIMUM:
            raise ParameterError(
                f"the minimum of reports must be >= {LEAST_MINIMUM}, got {self.minimum}."
            )

    @cached_property
    def by_name(self) -> Mapping[str, RankedTopic]:
        """The topic of each name."""
        return {topic.name: topic for topic in self.topics}

    def topic(self, name: str) -> RankedTopic:
        """The topic ``name``, or an error that says which there are."""
        if name not in self.by_name:
            raise ParameterError(f"the server ranks {', '.join(self.by_name)}; not this topic.")
        return self.by_name[name]

    def noise(self, name: str) -> OneHotNoise:
        """The noise on reports about the topic ``name``."""
        return OneHotNoise(self.epsilon, self.topic(name).buckets.number)

    def period_at(self, time_s: float) -> int:
        """The number of the period at a Unix time."""
        return int(time_s // self.period_s)

    @cached_property
    def version(self) -> str:
        """The SHA-256 of everything here."""
        text = json.dumps(self.record(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def record(self) -> dict[str, Any]:
        """The description as JSON."""
        return {
            "protocol": PROTOCOL,
            "mode": self.mode,
            "epsilon": str(self.epsilon),
            "precision": MOVED,
            "k": self.k,
            "m": self.m,
            "bucket": self.bucket,
            "period_s": self.period_s,
            "minimum_reports": self.minimum,
            "topics": [each.record() for each in self.topics],
        } | ({"key": self.key} if self.key else {})

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Description":
        """The description a server sent; InputError where it is not one."""
        try:
            if record["protocol"] != PROTOCOL or record["precision"] != MOVED:
                raise InputError("the rank server speaks another protocol; use its version.")
            topics = tuple(map(RankedTopic.from_record, record["topics"]))
            return cls(
                record["mode"],
                positive(str(record["epsilon"]), "epsilon"),
                topics,
                float(record["k"]),
                whole_number(record["m"], "m"),
                str(record["bucket"]),
                whole_number(record["period_s"], "period_s"),
                whole_number(record["minimum_reports"], "minimum_reports"),
                str(record.get("key", "")),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError("the rank server sent a description of the wrong form.") from None


MOST_ANSWER_BYTES = 1 << 24
_TIMEOUT_S = 30.0
_REASONS: dict[type[Exception], str] = {
    socket.gaierror: "no machine has that name",
    ConnectionRefusedError: "nothing listens there",
    TimeoutError: "it does not answer",
    ssl.SSLCertVerificationError: "its certificate is not one that this machine trusts",
    ssl.SSLError: "its TLS does not work",
}


class Transport(Protocol):
    """Whatever carries JSON to one server and back."""

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """The answer's JSON; `RefusedError` where it is an error."""


class HttpTransport:
    """One server at a URL; plain HTTP only on this machine, as shares are secret on their way."""

    def __init__(
        self, url: str, *, timeout_s: float = _TIMEOUT_S, most_bytes: int = MOST_ANSWER_BYTES
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ParameterError("a rank server's address must be an http or https URL.")
        if parts.scheme == "http" and not is_this_machine(parts.hostname):
            raise ParameterError("a rank server on another machine must be reached by https.")
        self._host, self._port, self._base = parts.hostname, parts.port, parts.path.rstrip("/")
        self._secure, self._timeout_s = parts.scheme == "https", timeout_s
        self._most_bytes = most_bytes
        port = "" if parts.port is None else f":{parts.port}"
        self.address = f"{parts.scheme}://{parts.hostname}{port}{self._base}"

    def call(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """One request on a connection of its own."""
        status, answer = self.exchange(
            method, path, None if body is None else json.dumps(body).encode()
        )
        try:
            parsed = parse_json(answer)
        except ValueError:
            raise InputError("the answer is not JSON; is that a rank server?") from None
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise RefusedError(status, _why(parsed))
        return parsed

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Status and bytes of an answer."""
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=self._timeout_s)
        try:
            sent = {"Content-Type": "application/json", **(headers or {})}
            connection.request(method, self._base + path, body, sent)
            response = connection.getresponse()
            answer = response.read(self._most_bytes + 1)
        except (OSError, http.client.HTTPException) as error:
            raise ProtocolError(
                f"the rank server at {self._host} cannot be reached: {_reason(error)}; try again "
                "later."
            ) from error
        finally:
            connection.close()
        if len(answer) > self._most_bytes:
            raise InputError(f"the rank server's answer exceeds {self._most_bytes} bytes.")
        return response.status, answer


def is_this_machine(host: str) -> bool:
    """Whether what is sent to ``host`` stays on this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _reason(error: Exception) -> str:
    for kind, words in _REASONS.items():
        if isinstance(error, kind):
            return words
    return type(error).__name__


def _why(parsed: object) -> str:
    detail = parsed.get("detail") if isinstance(parsed, dict) else None
    return detail if isinstance(detail, str) and detail.isprintable() else "it gives no reason."


def read_private(path: Path, name: str) -> str:
    """The text of a file that only its owner may read."""
    try:
        refuse_open_to_others(path)
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the {name} {path}: {cause_of(error)}.") from None


def read_tokens(path: Path) -> list[str]:
    """The tokens in a file that only its owner may read: 32 hexadecimal digits a line."""
    lines = read_private(path, "tokens").split()
    if not lines or not all(_TOKEN.fullmatch(line) for line in lines):
        raise InputError(
            f"{path} must have a token of 32 hexadecimal digits in each line: openssl rand -hex 16"
        )
    if len(set(lines)) < len(lines):
        raise InputError(f"{path} has the same token twice; every person needs their own.")
    return lines


_TOKEN = re.compile(r"[0-9a-f]{32}")
