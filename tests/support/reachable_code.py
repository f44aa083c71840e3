"""Which definitions of a package each one can reach, read from its syntax trees alone."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

Imports = dict[str, tuple[str, str]]


def walked(start: ast.AST) -> list[ast.AST]:
    """A node and all below it, but for the marks that say whether a name is read or written."""
    found = [start]
    for node in found:
        # Its fields and where it stands, in plain numbers: faster than to ask for each field.
        for part in vars(node).values():
            if isinstance(part, list):
                found += [each for each in part if isinstance(each, ast.AST)]
            elif isinstance(part, ast.AST) and not isinstance(part, ast.expr_context):
                found.append(part)
    return found


class Place(NamedTuple):
    """A name at the top level of a module; the module's loose statements have the name ''."""

    module: str
    name: str


@dataclass(frozen=True)
class Sources:
    """Syntax trees of modules by their dotted names."""

    trees: dict[str, ast.Module]

    @classmethod
    def of_package(cls, folder: Path) -> Self:
        """Every module in the folder of an installed package."""
        trees = {}
        for path in sorted(folder.rglob("*.py")):
            name = ".".join(path.relative_to(folder.parent).with_suffix("").parts)
            trees[name.removesuffix(".__init__")] = ast.parse(path.read_text(encoding="utf-8"))
        return cls(trees)

    @cached_property
    def statements(self) -> dict[Place, list[ast.stmt]]:
        """The statements that make each place what it is."""
        found: dict[Place, list[ast.stmt]] = {}
        for module, tree in self.trees.items():
            for statement in _top_level(tree.body):
                for name in _defined(statement):
                    found.setdefault(Place(module, name), []).append(statement)
        return found

    def reachable(self, start: Place) -> set[Place]:
        """All that running ``start`` may run: what it mentions, what that mentions, and so on."""
        reached, waiting = {start}, [start]
        while waiting:
            new = self._mentions.get(waiting.pop(), set()) - reached
            reached |= new
            waiting.extend(new)
        return reached | {Place(place.module, "") for place in reached}

    @cached_property
    def _imports(self) -> dict[str, Imports]:
        return {module: _imported(_top_level(tree.body)) for module, tree in self.trees.items()}

    @cached_property
    def _mentions(self) -> dict[Place, set[Place]]:
        found: dict[Place, set[Place]] = {}
        for place, statements in self.statements.items():
            for statement in statements:
                for name, put in _registered(statement):
                    holder = Place(place.module, name)
                    found.setdefault(holder, set()).update(self.named_in(place.module, [put]))
                parts = list(self._own_parts(place, statement))
                found.setdefault(place, set()).update(self.named_in(place.module, parts))
        return found

    def _own_parts(self, place: Place, statement: ast.stmt) -> Iterator[ast.AST]:
        """All of a statement but the object it is put into, which would lead to its neighbours."""
        decorators = getattr(statement, "decorator_list", [])
        for part in ast.iter_child_nodes(statement):
            holders = self.statements.get(Place(place.module, _leftmost(part)), [])
            held = any(isinstance(holder, ast.Assign) for holder in holders)
            if place.name and not (part in decorators and held):
                yield part

    def named_in(self, module: str, parts: list[ast.AST]) -> Iterator[Place]:
        """The places that parts of a module mention."""
        nodes = [node for part in parts for node in walked(part)]
        local = _imported(nodes)
        owners = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
        own = _parameters(parts)
        for node in nodes:
            if isinstance(node, ast.Name) and node.id in own:
                continue
            target = self._meant(module, local, node)
            if isinstance(target, Place):
                yield target
            elif target is not None and id(node) not in owners:
                # A module that is handed on whole: anything in it may be used.
                yield from (place for place in self.statements if place.module == target)

    def _meant(self, module: str, local: Imports, node: ast.AST) -> Place | str | None:
        """The place, or the module, that a name or a dotted name stands for."""
        if isinstance(node, ast.Attribute):
            owner = self._meant(module, local, node.value)
            return self.found(owner, node.attr) if isinstance(owner, str) else None
        if not isinstance(node, ast.Name):
            return None
        if node.id in local:
            return self.found(*local[node.id])
        return self.found(module, node.id)

    def found(self, module: str, name: str) -> Place | str | None:
        """What a name in a module stands for, wherever that is defined: a place, or a module."""
        whole = f"{module}.{name}".strip(".")
        if Place(module, name) in self.statements:
            return Place(module, name)
        source = self._imports.get(module, {}).get(name, (module, name))
        if source != (module, name):
            return self.found(*source)
        return whole if whole in self.trees else None


def _parameters(parts: list[ast.AST]) -> set[str]:
    """The parameters of a function, which mean nothing that stands outside of it."""
    given = [part for part in parts if isinstance(part, ast.arguments)]
    return {node.arg for part in given for node in walked(part) if isinstance(node, ast.arg)}


def _top_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module, those under its conditions included."""
    for statement in body:
        if isinstance(statement, ast.If | ast.Try | ast.With):
            inner = list(ast.iter_child_nodes(statement))
            inner += [
                part for handler in getattr(statement, "handlers", []) for part in handler.body
            ]
            yield from _top_level(part for part in inner if isinstance(part, ast.stmt))
        else:
            yield statement


def _defined(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            names = [node for target in targets for node in walked(target)]
            return [node.id for node in names if isinstance(node, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Import() | ast.ImportFrom():
            return []
    return [""]


def _imported(nodes: Iterable[ast.AST]) -> Imports:
    """What each imported name stands for: a module, and a name in it."""
    found: Imports = {}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            found |= {
                each.asname or each.name: (node.module or "", each.name) for each in node.names
            }
        elif isinstance(node, ast.Import):
            first = [each.name.partition(".")[0] for each in node.names if each.asname is None]
            found |= {name: ("", name) for name in first}
    return found


def _registered(statement: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    """The name of an object that a statement puts something into, and what it puts there.

    ``@router.get`` above a function, and a loose ``app.command("x")(function)``, do so.
    """
    if isinstance(statement, ast.Expr):
        yield _leftmost(statement.value), statement.value
    for decorator in getattr(statement, "decorator_list", []):
        for name in _defined(statement):
            yield _leftmost(decorator), ast.Name(name)


def _leftmost(node: ast.AST | None) -> str:
    """``app`` of ``app.command("x")(function)``."""
    while node is not None and not isinstance(node, ast.Name):
        node = getattr(node, "func", None) or getattr(node, "value", None)
    return node.id if node else ""
