"""Write the API reference: a page for each public name of each door, and a page for each door.

A door is a package, or `sottovoce.errors`, that says by ``__all__`` what it offers. The pages are
made again whenever Sphinx builds the guide (this file is one of its extensions), so a name that is
added to a door has its page at the next build. An object that several doors offer has one page,
under the first of them.
"""

import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = "sottovoce"
FOLDER = "generated"
GROUPS = {
    "The front door": PACKAGE,
    "Assess": f"{PACKAGE}.assess",
    "Release": f"{PACKAGE}.release",
    "Learn": f"{PACKAGE}.learn",
    "The loop": f"{PACKAGE}.loop",
    "Privacy": f"{PACKAGE}.privacy",
    "Topics": f"{PACKAGE}.topics",
    "Corpus": f"{PACKAGE}.corpus",
    "Advisor": f"{PACKAGE}.advisor",
    "Cluster": f"{PACKAGE}_spark",
    "Federation": f"{PACKAGE}.federation",
    "Errors": f"{PACKAGE}.errors",
}
INDEX = "index.inc"
_ARRAY_LIKE = re.compile(r"[~\w.]*_Buffer \| .*?complex \| bytes \| str\]")


@dataclass(frozen=True)
class Door:
    """A package and the names it offers."""

    name: str
    """Dotted, as it is imported."""
    module: ModuleType

    @property
    def offered(self) -> list[str]:
        """Its public names; where no ``__all__`` says so, the public classes it defines."""
        given: Sequence[str] | None = getattr(self.module, "__all__", None)
        return sorted(self._classes() if given is None else given, key=str.casefold)

    def _classes(self) -> Iterator[str]:
        for name, value in vars(self.module).items():
            own = inspect.isclass(value) and value.__module__ == self.name
            if own and not name.startswith("_"):
                yield name


@dataclass(frozen=True)
class Entry:
    """A public name of a door, and what it stands for."""

    door: str
    name: str
    value: Any
    homonyms: frozenset[str] = frozenset()
    """The door's other names that differ from this one in case alone."""

    @property
    def path(self) -> str:
        """How it is imported."""
        return f"{self.door}.{self.name}"

    @property
    def page(self) -> str:
        """The file of its page, without its ending; names that differ in case stay apart."""
        apart = bool(self.homonyms) and inspect.isclass(self.value)
        return f"{self.path}-class" if apart else self.path

    @cached_property
    def summary(self) -> str:
        """The first sentence of its docstring; nothing for a constant."""
        described = inspect.isclass(self.value) or inspect.isroutine(self.value)
        described = described or inspect.ismodule(self.value)
        return _first_paragraph(inspect.getdoc(self.value) or "") if described else ""


def doors() -> dict[str, list[Door]]:
    """The doors of each group: a package of ours, then the public packages below it."""
    return {group: found for group, root in GROUPS.items() if (found := list(_below(root)))}


def _below(root: str) -> Iterator[Door]:
    module = import_module(root)
    door = Door(root, module)
    if door.offered:
        yield door
    if root == PACKAGE or not hasattr(module, "__path__"):
        return
    for found in pkgutil.iter_modules(module.__path__, f"{root}."):
        if found.ispkg and not found.name.rpartition(".")[2].startswith("_"):
            yield from (each for each in _below(found.name) if hasattr(each.module, "__all__"))


def entries(door: Door) -> list[Entry]:
    """All that a door offers."""
    return [
        Entry(door.name, name, getattr(door.module, name), _homonyms(name, door.offered))
        for name in door.offered
    ]


def _homonyms(name: str, offered: Sequence[str]) -> frozenset[str]:
    return frozenset(
        each for each in offered if each != name and each.casefold() == name.casefold()
    )


class Reference:
    """Which page tells of which public name."""

    def __init__(self, grouped: Mapping[str, Sequence[Door]]) -> None:
        self.grouped = grouped
        self.offered = {door.name: entries(door) for group in grouped.values() for door in group}
        self._first: dict[int, Entry] = {}
        for held in self.offered.values():
            for entry in held:
                self._first.setdefault(_identity(entry), entry)

    def home(self, entry: Entry) -> Entry:
        """The entry that has the page: of an object that several doors offer, the first."""
        return self._first[_identity(entry)]

    def page(self, entry: Entry) -> str:
        """The page of an entry: a door's own, or that of its object."""
        if inspect.ismodule(entry.value):
            return f"{entry.value.__name__}.door"
        return self.home(entry).page

    def aliases(self, entry: Entry) -> list[str]:
        """The other doors' paths to the same object."""
        same = (each for held in self.offered.values() for each in held)
        return [each.path for each in same if each is not entry and self.home(each) is entry]

    def pages(self) -> dict[str, str]:
        """The text of every file, by its name."""
        written = {INDEX: "".join(self._index())}
        for held in self.grouped.values():
            for door in held:
                written[f"{door.name}.door.rst"] = "".join(self._door_page(door))
                for entry in self._own(door):
                    written[f"{entry.page}.rst"] = "".join(self._entry_page(entry))
        return written

    def _own(self, door: Door) -> list[Entry]:
        return [
            entry
            for entry in self.offered[door.name]
            if self.home(entry) is entry and not inspect.ismodule(entry.value)
        ]

    def _index(self) -> Iterator[str]:
        for group, held in self.grouped.items():
            yield f"{_heading(group, '-')}"
            for door in held:
                yield f":doc:`{door.name} </{FOLDER}/{door.name}.door>`\n"
                yield f"   {_first_paragraph(inspect.getdoc(door.module) or '')}\n\n   "
                yield " · ".join(
                    f":doc:`{entry.name} </{FOLDER}/{self.page(entry)}>`"
                    for entry in self.offered[door.name]
                )
                yield "\n\n"
        yield ".. toctree::\n   :hidden:\n\n"
        for held in self.grouped.values():
            # The sidebar is narrow, and all of these are below one package.
            yield from (
                f"   {door.name.removeprefix(f'{PACKAGE}.')} </{FOLDER}/{door.name}.door>\n"
                for door in held
            )

    def _door_page(self, door: Door) -> Iterator[str]:
        yield _heading(door.name, "=")
        yield from _told(inspect.getdoc(door.module) or "")
        yield ".. list-table::\n   :widths: 30 70\n\n"
        for entry in self.offered[door.name]:
            yield f"   * - :doc:`{entry.name} <{self.page(entry)}>`\n"
            yield f"     - {self.home(entry).summary}\n"
        yield "\n.. toctree::\n   :hidden:\n\n"
        yield from (f"   {entry.name} <{entry.page}>\n" for entry in self._own(door))

    def _entry_page(self, entry: Entry) -> Iterator[str]:
        yield _heading(entry.name, "=")
        yield f".. {_directive(entry.value)}:: {entry.path}\n"
        yield from (f"   {line}\n" for line in _below_directive(entry.value))
        others = self.aliases(entry)
        if others:
            yield f"\nThe same as {' and '.join(f'``{path}``' for path in others)}.\n"


def _identity(entry: Entry) -> int:
    """Equal for one object under several names; a constant is one for each of its paths."""
    value = entry.value
    if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
        return id(value)
    return id(entry)


def _directive(value: object) -> str:
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction" if inspect.isroutine(value) else "py:data"


def _below_directive(value: object) -> list[str]:
    if inspect.isroutine(value):
        return []
    if inspect.isclass(value):
        foreign = ", ".join(each.__name__ for each in value.__mro__ if not _is_ours(each))
        return [":members:", f":inherited-members: {foreign}"]
    return ["", f"{_constant(value)}"]


def _constant(value: object) -> str:
    """A constant in words: a table by its keys, a list by its values."""
    if isinstance(value, Mapping):
        return f"A value for each of {_listed(value)}."
    if isinstance(value, tuple | list | frozenset | set):
        return f"{_listed(sorted(value) if isinstance(value, frozenset | set) else value)}."
    return f"``{value!r}``"


def _listed(values: Iterable[object]) -> str:
    return ", ".join(f"``{value}``" for value in values)


def _is_ours(value: object) -> bool:
    return str(getattr(value, "__module__", "")).partition(".")[0] == PACKAGE


def _first_paragraph(docstring: str) -> str:
    return " ".join(docstring.split("\n\n", maxsplit=1)[0].split())


def _told(docstring: str) -> Iterator[str]:
    """A module's docstring as reStructuredText: what is indented is shown as it stands."""
    shown = False
    for paragraph in docstring.split("\n\n"):
        indented = paragraph.startswith("    ")
        if indented and not shown:
            yield "::\n\n"
        shown = indented
        yield f"{paragraph}\n\n"


def _heading(text: str, line: str) -> str:
    return f"{text}\n{line * len(text)}\n\n"


def write(folder: Path) -> None:
    """All pages into ``folder``: what has not changed stays, what is no longer offered goes."""
    pages = Reference(doors()).pages()
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def skip_foreign_methods(
    _app: object, _what: str, _name: str, member: object, skip: bool, _options: object
) -> bool | None:
    """Leave out methods that another package wrote into a class of ours."""
    if inspect.isroutine(member) and not _is_ours(member):
        return True
    return skip or None


def shorten_types(
    _app: object, _what: str, _name: str, _value: object, _options: object, *signature: str | None
) -> tuple[str | None, ...]:
    """Write numpy's ArrayLike by its name: it is a union of types that nobody knows."""
    return tuple(part and _ARRAY_LIKE.sub("ArrayLike", part) for part in signature)


def setup(app: Any) -> dict[str, bool]:  # noqa: ANN401 - Sphinx, which only the guide needs
    """Have Sphinx write the pages before it looks for them."""
    app.connect("builder-inited", lambda built: write(Path(built.srcdir) / FOLDER))
    app.connect("autodoc-skip-member", skip_foreign_methods)
    app.connect("autodoc-process-signature", shorten_types)
    return {"parallel_read_safe": True}
