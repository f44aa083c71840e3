"""``sottovoce rank-server`` and ``rank-edges``: publishing histograms, and where buckets lie."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli._groups import OptionGroup
from sottovoce.cli._options import (
    BucketOption,
    KOption,
    MOption,
    load_catalogue,
    load_shipped_catalogue,
    needs_extra,
)
from sottovoce.cli._output import AsJson
from sottovoce.errors import InputError, ParameterError

if TYPE_CHECKING:
    from sottovoce.advisor.rank.description import Description, Mode, RankedTopic
    from sottovoce.web.rank.service import Admission, RankService
    from sottovoce.web.rank.store import Store


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


@dataclass(frozen=True)
class BucketOptions(OptionGroup):
    """What scores are of, and where their buckets lie.

    Args:
        measure: The measure that scores come from.
        buckets: How many score buckets; 20 by default.
        lowest: Where the buckets begin; default: the measure's lowest value.
        highest: Where the buckets end.
        edges: Edges that rank-edges wrote, instead of --buckets between two bounds.
    """

    panel = "What is counted"

    measure: str = "lda-dt"
    buckets: Annotated[int | None, typer.Option(show_default=False)] = None
    lowest: float | None = None
    highest: float | None = None
    edges: Path | None = None

    def rank_topics(self, topics: Sequence[str]) -> "tuple[RankedTopic, ...]":
        from sottovoce.advisor.rank.description import BUCKETS, Buckets, RankedTopic, score_range  # noqa: PLC0415 - fast --help
        from sottovoce.advisor.rank.histogram import load_edges  # noqa: PLC0415 - fast --help

        bounds = (self.lowest, self.highest)
        if self.edges is not None:
            if any(each is not None for each in (self.buckets, *bounds)):
                raise ParameterError(
                    "--edges already sets the buckets; leave out --buckets, --lowest and --highest."
                )
            return _with_edges(load_edges(self.edges), topics, self.measure, self.edges)
        low, high = bounds
        if (low is None) != (high is None):
            raise ParameterError("--lowest and --highest go together; give both or neither.")
        ends = score_range(self.measure) if low is None or high is None else (low, high)
        even = Buckets.even(*ends, BUCKETS if self.buckets is None else self.buckets)
        return tuple(RankedTopic(topic, self.measure, even) for topic in topics)


@dataclass(frozen=True)
class PairOptions(OptionGroup):
    """Whether there are two servers.

    Args:
        mode: noise: one server; shares: two.
        peer: shares: URL of the second server; this is then the first.
        peer_key: shares: file with the two servers' common secret.
    """

    panel = "The second server"

    mode: str = "noise"
    peer: str | None = None
    peer_key: Path | None = None


@dataclass(frozen=True)
class ReporterOptions(OptionGroup):
    """Whom the server hears, and how often.

    Args:
        admission: File of tokens, one per person; each allows one report per period.
        rate: Most requests per second, in all; 0: no limit.
        rate_per_address: Most requests per second from one address; use 0 behind a proxy.
    """

    panel = "Who may report, and how often"

    admission: Path | None = None
    rate: float = 2000
    rate_per_address: float = 50


@dataclass(frozen=True)
class ServingOptions(OptionGroup):
    """Where the server listens, and what it keeps.

    Args:
        store: An SQLite file, or the URL of a PostgreSQL database.
        host: The address to listen at.
        port: The port to listen at; 0: any free one.
        certificate: TLS certificate; without one, use a proxy with TLS.
        key: The certificate's private key.
        restored: The store was restored from a copy: begin a new period.
        log: File for events, one line of JSON each; - for standard error.
        metrics_key: File with the key that a request for /metrics must show.
    """

    panel = "Running it"

    store: str = "rank.sqlite"
    host: str = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8765
    certificate: Path | None = None
    key: Path | None = None
    restored: bool = False
    log: str | None = None
    metrics_key: Path | None = None


def rank_server(
    *,
    topics: Path | None = None,
    counted: BucketOptions,
    k: KOption = 0.3,
    m: MOption = 3,
    bucket: BucketOption = None,
    pair: PairOptions,
    epsilon: str = "1",
    period: str = "1w",
    minimum: int = 100,
    reporters: ReporterOptions,
    serving: ServingOptions,
    dry_run: bool = False,
    as_json: AsJson = False,
) -> None:
    """Publish score histograms per topic, from reports that hide each score.

    People send reports from the page of `advise`; after each period everybody may ask for its
    histograms. It runs until Ctrl-C. --dry-run shows the rules that it would publish.

    Example: sottovoce rank-server --topics community/topics.toml --epsilon 1 --period 1w

    Args:
        topics: The catalogue; its sensitive topics are ranked, or all if none is; default: ours.
        epsilon: What a report costs: per bucket (noise) or period (shares).
        period: How long a period lasts: 90s, 12h, 1d, 1w.
        minimum: Publish no histogram of fewer reports.
        dry_run: Show what would be published, and stop.
    """
    from sottovoce.advisor.rank.description import Description  # noqa: PLC0415 - fast --help
    from sottovoce.privacy.exact import positive  # noqa: PLC0415 - fast --help

    with needs_extra("web"):
        from sottovoce.web.rank.peer import PeerKey  # noqa: PLC0415 - fast --help
    rules = Description(
        _checked_mode(pair.mode),
        positive(epsilon, "epsilon"),
        counted.rank_topics(_ranked_names(topics)),
        k,
        m,
        bucket or "1w",
        _seconds(period),
        minimum,
    )
    if rules.mode == "shares" and pair.peer_key is not None:
        rules = replace(rules, key=PeerKey.read(pair.peer_key).tag)
    if dry_run:
        _show(rules, None, as_json)
    else:
        _run(rules, pair, reporters, serving, lambda url: _show(rules, url, as_json))


def _run(
    rules: "Description",
    pair: PairOptions,
    reporters: ReporterOptions,
    serving: ServingOptions,
    tell: Callable[[str], None],
) -> None:
    """Serve until Ctrl-C; ``tell`` hears the address once it listens."""
    with needs_extra("web"):
        from sottovoce.web.rank.app import Limits, create_app  # noqa: PLC0415 - fast --help
        from sottovoce.web.rank.peer import key_digits  # noqa: PLC0415 - fast --help
        from sottovoce.web.rank.serve import ListenSettings, event_writer, serve  # noqa: PLC0415 - fast --help
        from sottovoce.web.rank.service import Telemetry  # noqa: PLC0415 - fast --help
        from sottovoce.web.rank.store import open_store  # noqa: PLC0415 - fast --help

    listen = ListenSettings(serving.host, serving.port, serving.certificate, serving.key)
    listen.check()
    if serving.certificate is None:
        _warn_of_plain(serving.host)
    admitted = _admission(reporters.admission)
    numbers = None if serving.metrics_key is None else key_digits(serving.metrics_key)
    with event_writer(serving.log) as write:
        telemetry = Telemetry(write)
        service = _service(rules, open_store(serving.store), pair)
        service.telemetry, service.admission = telemetry, admitted
        if serving.restored:
            service.put_back()
        limits = Limits(reporters.rate, reporters.rate_per_address)
        app = create_app(service, limits, metrics_key=numbers)
        telemetry.tell("started", mode=rules.mode, rules=rules.version)
        try:
            serve(app, listen, tell)
        finally:
            service.close()
            telemetry.tell("stopped")


def _service(rules: "Description", store: "Store", pair: PairOptions) -> "RankService":
    from sottovoce.web.rank.pair import FirstServer, PairedServer, SecondServer  # noqa: PLC0415 - fast --help
    from sottovoce.web.rank.peer import HttpPeer, PeerKey  # noqa: PLC0415 - fast --help
    from sottovoce.web.rank.service import RankService  # noqa: PLC0415 - fast --help

    if rules.mode == "noise":
        if pair.peer or pair.peer_key:
            raise ParameterError("--peer and --peer-key belong to --mode shares; leave them out.")
        return RankService(rules, store)
    if pair.peer_key is None:
        raise ParameterError("--mode shares needs --peer-key: a file of openssl rand -hex 32.")
    key = PeerKey.read(pair.peer_key)
    server: PairedServer = (
        SecondServer(rules, store, key)
        if pair.peer is None
        else FirstServer(rules, store, key, HttpPeer(pair.peer, key))
    )
    server.warm()
    return server


def _admission(path: Path | None) -> "Admission | None":
    from sottovoce.advisor.rank.description import read_tokens  # noqa: PLC0415 - fast --help
    from sottovoce.web.rank.service import Admission  # noqa: PLC0415 - fast --help

    return None if path is None else Admission(read_tokens(path))


def _ranked_names(topics: Path | None) -> list[str]:
    catalogue = load_catalogue(topics) or load_shipped_catalogue()
    return [topic.name for topic in catalogue.sensitive or catalogue.topics]


def _checked_mode(mode: str) -> "Mode":
    from sottovoce.advisor.rank.description import MODES  # noqa: PLC0415 - fast --help

    for known in MODES:
        if mode == known:
            return known
    raise ParameterError(f"--mode must be one of {', '.join(MODES)}.")


def _with_edges(
    known: "Mapping[str, RankedTopic]", topics: Sequence[str], measure: str, path: Path
) -> "tuple[RankedTopic, ...]":
    for topic in topics:
        if topic not in known or known[topic].measure != measure:
            raise InputError(
                f"{path} has no edges of {topic!r} under the measure {measure}; leave the topic "
                "out of the catalogue, or --edges out."
            )
    return tuple(known[topic] for topic in topics)


def _seconds(period: str) -> int:
    number, unit = period[:-1], period[-1:]
    if not number.isdecimal() or unit not in _UNITS or len(number) > 6 or not int(number):  # noqa: PLR2004 - no slip
        raise ParameterError("--period must be a whole number and s, m, h, d or w: 12h, 1w.")
    return int(number) * _UNITS[unit]


def _lasting(seconds: int) -> str:
    """As --period takes it, in the longest unit that leaves it whole."""
    unit = max((unit for unit in _UNITS if seconds % _UNITS[unit] == 0), key=_UNITS.__getitem__)
    return f"{seconds // _UNITS[unit]}{unit}"


def _warn_of_plain(host: str) -> None:
    from sottovoce.advisor.rank.description import is_this_machine  # noqa: PLC0415 - fast --help

    if not is_this_machine(host):
        typer.echo(
            f"At {host} others can read what is sent, and clients on other machines refuse to send "
            "it: give --certificate and --key, or put a proxy with TLS in front.",
            err=True,
        )


def _show(rules: "Description", url: str | None, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(rules.record() | {"version": rules.version, "url": url}))
        return
    from sottovoce.privacy.exact import text_up  # noqa: PLC0415 - fast --help

    noise = rules.noise(rules.topics[0].name)
    if url is not None:
        typer.echo(f"Rank server at {url}")
    each = "period" if rules.mode == "shares" else "new bucket"
    typer.echo(f"Topics: {', '.join(rules.by_name)}")
    typer.echo(
        f"Mode {rules.mode}, {noise.buckets} buckets, "
        f"epsilon {text_up(rules.epsilon)} for each {each}"
    )
    measures = ", ".join(dict.fromkeys(topic.measure for topic in rules.topics))
    setting = f"k {rules.k:g}, m {rules.m}, bucket {rules.bucket}"
    typer.echo(f"Measure {measures}; {setting}")
    typer.echo(
        f"A period lasts {_lasting(rules.period_s)}; with fewer than {rules.minimum:,} reports a "
        "histogram is withheld"
    )


def rank_edges(
    server: str, *, out: Path = Path("edges.json"), buckets: int = 20, as_json: AsJson = False
) -> None:
    """Find bucket edges for a rank server, near the limits of the top 1, 5, 10, 25 and 50%.

    It reads them off the histograms that the server publishes. Start a new
    server with them; after two or three such rounds they hardly move.

    Example: sottovoce rank-edges http://127.0.0.1:8765 --out edges.json

    Args:
        server: The URL of a rank server that has published.
        out: File for the edges, for rank-server --edges.
        buckets: How many score buckets to make, at most.
    """
    from sottovoce.advisor.rank.client import latest_histogram  # noqa: PLC0415 - fast --help
    from sottovoce.advisor.rank.description import Description, HttpTransport, RankedTopic  # noqa: PLC0415 - fast --help
    from sottovoce.advisor.rank.histogram import fitted_buckets, save_edges  # noqa: PLC0415 - fast --help

    asked = HttpTransport(server)
    rules = Description.from_record(asked.call("GET", "/description"))
    found = {topic.name: latest_histogram(asked, rules, topic.name) for topic in rules.topics}
    if not any(found.values()):
        raise InputError(
            "the server has published no histogram yet, or too few people reported; ask again "
            "after the period."
        )
    topics = {
        topic.name: topic
        if (histogram := found[topic.name]) is None
        else RankedTopic(topic.name, topic.measure, fitted_buckets(histogram, rules, buckets))
        for topic in rules.topics
    }
    save_edges(out, topics)
    fitted = [name for name, histogram in found.items() if histogram is not None]
    kept = [name for name, histogram in found.items() if histogram is None]
    if as_json:
        typer.echo(json.dumps({"edges": str(out), "fitted": fitted, "kept": kept}))
        return
    typer.echo(f"Edges fitted for {', '.join(fitted)}: {out}")
    if kept:
        typer.echo(f"Nothing was published about {', '.join(kept)}: their edges stay.")
    typer.echo("A server with other edges needs a store of its own: rank-server --edges --store.")
    if rules.mode == "noise":
        typer.echo("In the noise mode whoever reports under new edges pays for their bucket again.")
