"""``sottovoce advise``."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli._groups import OptionGroup
from sottovoce.cli._options import (
    ModelOption,
    ReadingOptions,
    TopicsOption,
    load_catalogue,
    load_models,
    load_shipped_catalogue,
    needs_extra,
)
from sottovoce.cli._output import AsJson, progress
from sottovoce.errors import InputError, ParameterError

if TYPE_CHECKING:
    from sottovoce.advisor.person_values import AdvisorSetting
    from sottovoce.topics.catalogue import Catalogue
    from sottovoce.web.advise.session import ComparedCommunity, Reporting

_OWNER_ONLY = 0o700


@dataclass(frozen=True)
class ComparedOptions(OptionGroup):
    """With whom a person is compared.

    Args:
        community: Posts (user, time, text) to be compared with.
        rank_server: URL of a rank server to be compared with.
        second_rank_server: URL of its second server, if it is one of two.
    """

    panel = "Whom you are compared with"

    community: Path | None = None
    rank_server: str | None = None
    second_rank_server: str | None = None
    model: ModelOption = None
    topics: TopicsOption = None


@dataclass(frozen=True)
class ReportOptions(OptionGroup):
    """What reports may cost.

    Args:
        rank_budget: The most epsilon that all your reports may ever cost; without it none can be
            sent.
        rank_admission: File with your token, if the rank server asks for one.
    """

    panel = "Reports to a rank server"

    rank_budget: str | None = None
    rank_admission: Path | None = None


@dataclass(frozen=True)
class ListenOptions(OptionGroup):
    """Where the page is.

    Args:
        port: The port to listen at; 0: any free one.
        host: The address to listen at.
        beyond: Allow a --host that other machines can reach.
    """

    panel = "Where the page listens"

    port: int = 0
    host: str = "127.0.0.1"
    beyond: Annotated[bool, typer.Option("--i-know-others-can-reach-it")] = False


def advise(
    *,
    compared: ComparedOptions,
    reports: ReportOptions,
    page: ListenOptions,
    store: Path | None = None,
    help_line: str | None = None,
    no_open: bool = False,
    as_json: AsJson = False,
) -> None:
    """Open the advisor: a page on this machine that tells you where your posts put you.

    Choose your posts on the page; without --community they are compared with simulated people.
    Nothing of yours leaves this machine unless you give a --rank-budget and agree, on the page, to
    send a report. Stop it with Ctrl-C.

    Example: sottovoce advise

    Args:
        store: Folder for settings and alerts, readable by you only.
        help_line: The line shown beside health topics that says where to find help; '' for none.
        no_open: Do not open a browser.
    """
    with needs_extra("web"):
        from sottovoce.web.advise.app import HELP_LINE, PageAddress, PageOptions, serve  # noqa: PLC0415 - fast --help
    listen_at = PageAddress(page.host, page.port, page.beyond)
    kept = store or _data_folder() / "advise.sqlite"
    reporting = _reporting(compared, reports, kept)
    options = PageOptions(
        kept,
        comparison=_comparison(compared, first=reporting is not None),
        reporting=reporting,
        help_line=HELP_LINE if help_line is None else help_line or None,
    )
    serve(
        listen_at,
        options,
        show_address=_show_json_address if as_json else _show_address,
        show_next_address=_show_json_address if as_json else _show_next_address,
        open_browser=not no_open,
    )


def _show_address(address: str) -> None:
    typer.echo(f"Your page: {address}")
    typer.echo("The address works once, in one browser. Stop with Ctrl-C.")


def _show_next_address(address: str) -> None:
    typer.echo(f"For another browser: {address}")


def _show_json_address(address: str) -> None:
    typer.echo(json.dumps({"address": address}))


def _reporting(
    compared: ComparedOptions, reports: ReportOptions, store: Path
) -> "Reporting | None":
    second, budget = compared.second_rank_server, reports.rank_budget
    if budget is None:
        if reports.rank_admission is not None:
            raise ParameterError("--rank-admission is for reports; give --rank-budget too.")
        if second is not None:
            raise ParameterError("--second-rank-server is for reports; give --rank-budget too.")
        return None
    if compared.rank_server is None:
        raise ParameterError(
            "--rank-budget is for reports to a rank server; give --rank-server too."
        )
    from sottovoce.advisor.rank.description import read_tokens  # noqa: PLC0415 - fast --help
    from sottovoce.privacy.exact import positive  # noqa: PLC0415 - keeps --help fast
    from sottovoce.web.advise.session import FOLDER, Reporting  # noqa: PLC0415 - fast --help

    servers = [compared.rank_server, *([] if second is None else [second])]
    token = None if reports.rank_admission is None else read_tokens(reports.rank_admission)[0]
    return Reporting(
        servers, store.with_name(FOLDER), positive(budget, "--rank-budget"), admission=token
    )


def _comparison(compared: ComparedOptions, *, first: bool) -> "ComparedCommunity":
    from sottovoce.web.advise.session import DEMO, ask  # noqa: PLC0415 - keeps --help fast

    posts, rank_server = compared.community, compared.rank_server
    model, topics = compared.model, compared.topics

    if posts is None and rank_server is None:
        if model or topics is not None:
            raise ParameterError(
                "--model and --topics describe a community: give --community or --rank-server too."
            )
        return DEMO
    catalogue = load_catalogue(topics) or load_shipped_catalogue()
    if posts is None:
        from sottovoce.advisor.rank.description import HttpTransport  # noqa: PLC0415 - fast --help

        server = HttpTransport(str(rank_server))
        return ask(server, load_models(model), catalogue, unpublished=first)
    if rank_server is not None:
        raise ParameterError("--community and --rank-server exclude each other: give one.")
    return _of_posts(posts, model, catalogue)


def _of_posts(posts: Path, model: list[Path] | None, catalogue: "Catalogue") -> "ComparedCommunity":
    from sottovoce.advisor.community import Community  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.clean import CleaningCounts  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.read.corpus import open_posts  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.schema import POSTS  # noqa: PLC0415 - keeps --help fast
    from sottovoce.web.advise.received import cleaned_table  # noqa: PLC0415 - keeps --help fast
    from sottovoce.web.advise.session import ComparedCommunity  # noqa: PLC0415 - keeps --help fast

    spaces, counts = load_models(model), CleaningCounts()
    corpus = open_posts(posts, options=ReadingOptions().choose(posts, POSTS))
    with progress("Reading the community"):
        table = cleaned_table(corpus.read_all(), counts)
        known = Community.from_posts(table, spaces, catalogue)
    if told := counts.in_words():
        typer.echo(told, err=True)

    def by_setting(setting: "AdvisorSetting") -> Community:
        return known if setting == known.setting else known.with_setting(setting)

    return ComparedCommunity(by_setting, "the community you gave", spaces)


def _data_folder() -> Path:
    """Where the page keeps what it must, for its owner only."""
    given = os.environ.get("XDG_DATA_HOME")
    folder = (Path(given) if given else Path.home() / ".local" / "share") / "sottovoce"
    try:
        folder.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create {folder}: {error.strerror}; give --store.") from None
    return folder
