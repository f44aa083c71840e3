"""``sottovoce advise``."""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.assessing import ModelOption, TopicsOption, the_catalogue, the_models
from sottovoce.cli.extras import needs_extra
from sottovoce.cli.shown import AsJson, progress
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.advisor.community import Community
    from sottovoce.topics.catalogue import Catalogue


def advise(
    port: Annotated[int, typer.Option(help="Port; 0 takes any that is free.")] = 0,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    beyond: Annotated[
        bool,
        typer.Option(
            "--i-know-others-can-reach-it", help="Allow a --host other than this machine itself."
        ),
    ] = False,
    community: Annotated[
        Path | None, typer.Option(help="Posts (user, time, text) to be compared with.")
    ] = None,
    rank_server: Annotated[
        str | None, typer.Option(help="URL of a rank server to be compared with; only asked.")
    ] = None,
    model: ModelOption = None,
    topics: TopicsOption = None,
    store: Annotated[
        Path | None, typer.Option(help="Where settings and alerts are kept, for you only.")
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
    operator: Annotated[
        bool, typer.Option("--operator", help="Also offer the full ranking, the attacker's list.")
    ] = False,
    password_file: Annotated[
        Path | None, typer.Option(help="The operator's password, as --set-operator-password made.")
    ] = None,
    look_log: Annotated[
        Path | None, typer.Option(help="Where the operator's looks are logged.")
    ] = None,
    set_operator_password: Annotated[
        Path | None, typer.Option(help="Ask for a password, keep its hash in this file, and stop.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Open the advisor: a page on this machine that tells you where your posts put you.

    Bring your posts on the page; without --community they are compared with simulated people.
    Nothing leaves this machine. Stop it with Ctrl-C.

    Example: sottovoce advise
    """
    if set_operator_password is not None:
        _set_password(set_operator_password)
        return
    with needs_extra("web"):
        serve = _web("advise.serve")
        place = serve.Place(host, port, beyond)
        kept = store or _data_folder() / "advise.sqlite"
        serve.serve(
            place,
            store=kept,
            comparison=_comparison(community, rank_server, model, topics),
            operator=_operator(operator, password_file, look_log or kept.with_name("looks.jsonl")),
            told=_tell_json if as_json else _tell,
            told_again=_tell_json if as_json else _tell_again,
            open_browser=not no_open,
        )


def _tell(address: str) -> None:
    typer.echo(f"Your page: {address}")
    typer.echo("The address works once, for one browser. Stop with Ctrl-C.")


def _tell_again(address: str) -> None:
    typer.echo(f"For another browser: {address}")


def _tell_json(address: str) -> None:
    typer.echo(json.dumps({"address": address}))


def _comparison(
    posts: Path | None, rank_server: str | None, model: list[Path] | None, topics: Path | None
) -> Any:  # noqa: ANN401 - of a module that is looked up
    if posts is None and rank_server is None:
        if model or topics is not None:
            raise ParameterError(
                "--model and --topics describe a community: give --community or --rank-server too."
            )
        return _web("advise.desk").DEMO
    catalogue = the_catalogue(topics)
    if catalogue is None:
        raise ParameterError("a community needs --topics, the catalogue of topics to look for.")
    if posts is None:
        from sottovoce.advisor.rank.transport import HttpTransport  # noqa: PLC0415 - fast --help

        server = HttpTransport(str(rank_server))
        return _web("advise.from_rank_server").ask(server, the_models(model), catalogue)
    if rank_server is not None:
        raise ParameterError("--community and --rank-server exclude each other: give one.")
    return _of_posts(posts, model, catalogue)


def _of_posts(posts: Path, model: list[Path] | None, catalogue: "Catalogue") -> Any:  # noqa: ANN401 - of a module that is looked up
    from sottovoce.advisor.community import Community  # noqa: PLC0415 - keeps --help fast

    with progress("Reading the community"):
        known = Community.from_posts(posts, the_models(model), catalogue)

    def by_setting(setting: Any) -> "Community":  # noqa: ANN401 - the advisor's setting
        return known if setting == known.setting else known.with_setting(setting)

    return _web("advise.desk").Comparison(by_setting, "the community you gave")


def _operator(wanted: bool, password_file: Path | None, look_log: Path) -> Any:  # noqa: ANN401 - of a module that is looked up
    if not wanted:
        if password_file is not None:
            raise ParameterError("--password-file is for --operator, which was not given.")
        return None
    if password_file is None:
        raise ParameterError("--operator needs --password-file; see --set-operator-password.")
    password = _web("security.passwords").PasswordFile(password_file)
    return _web("advise.operator").Operator(password, _web("security.look_log").LookLog(look_log))


def _set_password(path: Path) -> None:
    with needs_extra("web"):
        passwords = _web("security.passwords")
    if sys.stdin.isatty():
        password = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        password = sys.stdin.readline().rstrip("\n")
    passwords.write_password(path, password)
    typer.echo(f"The password's hash is in {path}; only you can read it.")


def _data_folder() -> Path:
    given = os.environ.get("XDG_DATA_HOME")
    return (Path(given) if given else Path.home() / ".local" / "share") / "sottovoce"


def _web(module: str) -> Any:  # noqa: ANN401 - a module
    # The command line and the web are doors side by side; one opens the other by name only.
    return import_module(f"sottovoce.web.{module}")
