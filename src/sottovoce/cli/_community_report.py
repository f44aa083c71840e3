"""``assess --report``: a page about one's own community, and people in it only where asked for."""

import getpass
import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli._output import progress
from sottovoce.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from sottovoce.assess.community_facts import CommunityWatch
    from sottovoce.assess.job import Assessment

MOST_PEOPLE = 10

ReportOption = Annotated[
    Path | None, typer.Option(help="Write an offline page about the community; it names nobody.")
]
PeopleOption = Annotated[
    bool, typer.Option("--people", help="Name the first people in --report; this is logged.")
]


@dataclass
class CommunityReport:
    """A report that was asked for."""

    path: Path
    people: bool
    concerned: float | None = None
    _watches: "list[CommunityWatch]" = field(default_factory=list)

    @classmethod
    def asked(
        cls, path: Path | None, *, people: bool, concerned: float | None
    ) -> "CommunityReport | None":
        """The options --report and --people."""
        if path is None:
            if people:
                raise ParameterError("--people needs --report, the page that names them.")
            return None
        if path.suffix.lower() not in {".html", ".htm"}:
            raise ParameterError(f"--report must end in .html, got {path.name}.")
        return cls(path, people, concerned)

    @property
    def log(self) -> Path:
        """Where it is logged that people were named."""
        return self.path.with_name(f"{self.path.name}.log")

    def watching(self, assessment: "Assessment") -> "CommunityWatch":
        """What sees the posts on their way to the state."""
        from sottovoce.assess.community_facts import CommunityWatch  # noqa: PLC0415 - fast --help

        self._watches.append(CommunityWatch(clean=bool(assessment.scoring.header.clean)))
        return self._watches[-1]

    def write(self, assessment: "Assessment", read: Mapping[str, object]) -> None:
        """Draw and write the page; that it names people is logged before it does."""
        from sottovoce.assess.community_facts import all_shipped, first_people, topic_facts  # noqa: PLC0415 - fast --help
        from sottovoce.assess.disclosure.disclosures import disclosure_counts  # noqa: PLC0415 - fast --help

        try:
            from sottovoce.report.own_community import CommunityFacts, community_report  # noqa: PLC0415 - fast --help
        except ModuleNotFoundError as error:
            raise MissingExtraError.of_import(error, "report") from None
        catalogue = assessment.state.header.catalogue
        with progress("Drawing the report"):
            watch = self._watches[0] if self._watches else None
            texts = watch.texts if watch else ()
            facts = CommunityFacts(
                users=assessment.users,
                posts=assessment.posts,
                topics=topic_facts(assessment.ranks(), catalogue),
                rows=read,
                weeks=dict(sorted(watch.weeks.items())) if watch else {},
                closely=len(texts),
                said=disclosure_counts(texts, catalogue) if texts else (),
                english=watch is None or watch.english,
                own_topics=not all_shipped(catalogue),
                people=first_people(assessment.ranks(), MOST_PEOPLE) if self.people else (),
                concerned=self.concerned,
                command=shlex.join(["sottovoce", *sys.argv[1:]]),
            )
            if self.people:
                self._note(len(facts.topics))
            community_report(facts).save(self.path, private=self.people)
        typer.echo(f"Wrote {self.path}{self._told()}", err=True)

    def _told(self) -> str:
        if not self.people:
            return ": it names nobody."
        return f": it names people and is readable by you only; logged in {self.log}."

    def _note(self, topics: int) -> None:
        from sottovoce.files import append_private  # noqa: PLC0415 - keeps --help fast

        line = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "event": "report with people",
            "by": _who(),
            "report": self.path.name,
            "topics": topics,
        }
        append_private(self.log, json.dumps(line).encode() + b"\n")


def _who() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
