"""All commands in one place."""

from collections.abc import Callable
from typing import Annotated

import typer
from rich.markup import escape

import sottovoce
from sottovoce.cli import (
    advise,
    analyse,
    assess,
    audit,
    corpus,
    explain,
    lab,
    ledger,
    rank_server,
    release,
    state,
)
from sottovoce.cli._groups import PlainCommand, PlainGroup, command_text, expand_groups
from sottovoce.cli.learn import counts, members, parties, runs
from sottovoce.cli.topics import judge, models, train

learn = typer.Typer(
    help="Train and use one classifier together; texts stay with their holders.",
    no_args_is_help=True,
)
_LEARN: dict[str, dict[str, Callable[..., None]]] = {
    "Try it on one machine": {"init": parties.init},
    "Join": {
        "new": members.new,
        "invite": members.invite,
        "join": members.join,
        "admit": members.admit,
    },
    "Run a party": {
        "coordinator": parties.coordinator,
        "keyholder": parties.keyholder,
        "peer": parties.peer,
        "intermediary": parties.intermediary,
    },
    "Train together": {"train": runs.train, "evaluate": runs.evaluate, "classify": runs.classify},
    "Count together": {"count": counts.count, "topics": counts.topics},
    "See and decide": {
        "status": runs.status,
        "transcript": runs.transcript,
        "approve": members.approve,
        "audit": runs.audit,
    },
    "Members and keys": {
        "roster": members.roster,
        "remove": members.remove,
        "renew": parties.renew,
        "rotate": parties.rotate,
        "move": parties.move,
    },
}
for _panel, _commands in _LEARN.items():
    for _name, _command in _commands.items():
        learn.command(_name, rich_help_panel=_panel)(_command)

topics = typer.Typer(
    help="Background knowledge: vector spaces, the catalogue of topics, judgements.",
    no_args_is_help=True,
)
topics.command("list")(models.list_topics)
topics.command("train")(train.train)
topics.command("show")(models.show)
topics.command("import")(models.import_)
topics.command("catalogue")(models.catalogue)
topics.command("match")(models.match)
topics.add_typer(judge.judge, name="judge")

GROUPS = {
    "Assess": ("assess", "explain", "advise", "alerts", "forget", "rank-server", "rank-edges"),
    "Release": ("release", "analyse", "audit", "statement", "ledger", "loop"),
    "Learn": ("learn",),
    "Data": ("describe", "count", "simulate", "topics"),
    "Research": ("demo", "evaluate", "study", "bench"),
}
"""What help shows together, in the order of work."""


class _CommandsInGroups(PlainGroup):
    """All commands, in the order of their groups."""

    def list_commands(self, _ctx: object) -> list[str]:
        """Their names, as `GROUPS` has them."""
        return [name for names in GROUPS.values() for name in names]


app = typer.Typer(
    name="sottovoce",
    cls=_CommandsInGroups,
    no_args_is_help=True,
    # Typer's own traceback would show local variables, and these hold people's texts.
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(lab.demo)
app.command("simulate")(corpus.simulate)
app.command("describe")(corpus.describe)
app.command("count")(corpus.count)
app.command("evaluate")(lab.evaluate)
app.command("assess")(assess.assess)
app.command("explain")(explain.explain)
app.command("alerts")(state.alerts)
app.command("forget")(state.forget)
app.command("advise")(advise.advise)
app.command("release")(release.release)
app.command("analyse")(analyse.analyse)
app.command("audit")(audit.audit)
app.command("statement")(release.statement)
app.command("rank-server")(rank_server.rank_server)
app.command("rank-edges")(rank_server.rank_edges)
app.add_typer(ledger.ledger, name="ledger")
app.add_typer(learn, name="learn")
app.add_typer(topics, name="topics")
app.command("bench")(lab.bench)
app.command("loop")(release.loop)
app.command("study")(lab.study)


def _flowing(docstring: str) -> str:
    return escape("\n\n".join(" ".join(each.split()) for each in docstring.split("\n\n")))


def _let_help_flow(commands: typer.Typer) -> None:
    """Leave line breaks of help to the terminal, and brackets as they are: Rich would swallow them.

    A docstring is broken for our editors; shown as it stands, every other line at 80 columns would
    hold a few words only.
    """
    for command in commands.registered_commands:
        command.cls = PlainCommand
        if command.callback is not None:
            command.help = _flowing(command_text(command.callback))
            command.callback = expand_groups(command.callback)
    for group in commands.registered_groups:
        group.cls = PlainGroup
        if group.typer_instance is not None:
            _let_help_flow(group.typer_instance)


_let_help_flow(app)


def _show_in_groups() -> None:
    panels = {name: group for group, names in GROUPS.items() for name in names}
    for command in app.registered_commands:
        command.rich_help_panel = panels[command.name or ""]
    for group in app.registered_groups:
        group.rich_help_panel = panels[group.name or ""]


_show_in_groups()


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sottovoce {sottovoce.__version__}")
        raise typer.Exit


_BEGIN = """\
Assess, release and learn from private text. It sends nothing unless you ask.

To assess a file: sottovoce assess export.csv --report community.html. To see where your own posts
put you: sottovoce advise. In examples, export.csv is your file, and community is the folder that
sottovoce simulate community makes.
"""


@app.callback(help=_flowing(_BEGIN))
def root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and stop.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """All commands; their help is above."""
