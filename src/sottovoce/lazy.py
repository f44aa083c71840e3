"""The door of a package: its public names, each loaded when it is first asked for.

`import sottovoce` loads this and no more, so it does without `typing` and our own errors.
"""

import sys
from importlib import import_module

# As `typing` has it: type checkers take it for true.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any


def attach(
    package: str, where: "Mapping[str, str] | None" = None, *, extra: str | None = None
) -> "tuple[Callable[[str], Any], Callable[[], list[str]]]":
    """The ``__getattr__`` and ``__dir__`` of a package whose public names are those of ``where``.

    ``where`` has for each name the module that defines it; a module of that very name is the
    package's own, and is meant itself. None: the names are those that the package's own source
    imports for type checkers, each as ``from MODULE import NAME as NAME``; it is read when one is
    first asked for. ``extra`` is what to install where another's package is missing that a name
    needs.

    >>> get, listed = attach("sottovoce.corpus", {"Vocabulary": "sottovoce.corpus.vocabulary"})
    >>> listed(), get("Vocabulary").__name__
    (['Vocabulary'], 'Vocabulary')
    """
    listed: dict[str, str] = {} if where is None else {**where}

    def names() -> dict[str, str]:
        if not listed:
            listed.update(_read_names(package))
        return listed

    def get(name: str) -> "Any":  # noqa: ANN401 - whatever stands there
        where = names()
        if name == "__all__":
            return sorted(where)
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        module = _import_module(where[name], extra)
        found = module if where[name] == f"{package}.{name}" else getattr(module, name)
        # So that it is looked for once only.
        setattr(sys.modules[package], name, found)
        return found

    return get, lambda: sorted(names())


def _read_names(package: str) -> "dict[str, str]":
    """Each name that a package imports for type checkers, and the module that defines it."""
    import re  # noqa: PLC0415 - `import sottovoce` needs none

    spec = sys.modules[package].__spec__
    source = spec.loader.get_source(package)  # type: ignore[union-attr] # a file's loader
    found = re.findall(r"^    from (\S+) import (?:\(\s+)?(\w+) as \2,?$", source, re.MULTILINE)
    return {name: f"{at}.{name}" if at == package else at for at, name in found}


def _import_module(name: str, extra: str | None) -> "ModuleType":
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if extra is None:
            raise
        from sottovoce.errors import MissingExtraError  # noqa: PLC0415 - rarely needed

        raise MissingExtraError.of_import(error, extra) from None
