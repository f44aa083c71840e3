"""Parts of a long study, each kept in a file of its own: what is done is not done again.

A part is one seed of one setting. Its file holds its parameters, the version that computed it and
how many seconds that took, on the clock and of the processor. So a study that was stopped goes on
where it was, and one with more seeds or rates computes those alone. A file of other parameters or
of another version, or one that cannot be read, is computed again.
"""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import sottovoce
from sottovoce.files import output_folder, whole_file
from sottovoce.parsing import parse_json
from sottovoce.steps import repetitions

FOLDER = "parts"
RECIPE = 3
"""Counted up where a part of the same parameters and version would come out otherwise."""

Parameters: TypeAlias = Mapping[str, str | int | float | None]
Values: TypeAlias = dict[str, dict[str, float]]
"""By score and reader."""


@dataclass(frozen=True)
class PartStore:
    """Where parts are kept: in ``folder``, or nowhere if None."""

    folder: Path | None = None

    @classmethod
    def open_beside(cls, out: Path | None) -> "PartStore":
        """Beside the rows and the report of a study."""
        return cls(None if out is None else out / FOLDER)

    def values(self, parameters: Parameters, compute: Callable[[], Values]) -> Values:
        """Those of the part with these ``parameters``: read, or computed and kept."""
        known = {"version": sottovoce.__version__, "recipe": RECIPE, **parameters}
        if self.folder is None:
            return compute()
        path = self.folder / f"{_name_of(parameters)}.json"
        found = _read(path, known)
        if found is None:
            begin, used = time.perf_counter(), time.process_time()
            found = compute()
            took = {
                "seconds": round(time.perf_counter() - begin, 3),
                "processor_seconds": round(time.process_time() - used, 3),
            }
            _keep(path, {"parameters": known, **took, "values": found})
        return found

    def values_by_seed(
        self, parameters: Parameters, seeds: int, compute: Callable[[int], Values]
    ) -> list[Values]:
        """The parts of all seeds."""
        return [
            self.values({**parameters, "seed": seed}, partial(compute, seed))
            for seed in repetitions(seeds)
        ]


def by_reader(parts: Sequence[Values], score: str) -> dict[str, list[float]]:
    """The values of each reader, part after part."""
    return {name: [part[score][name] for part in parts] for name in parts[0][score]}


def _keep(path: Path, content: Mapping[str, object]) -> None:
    output_folder(path.parent)
    with whole_file(path, private=True) as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _read(path: Path, parameters: Parameters) -> Values | None:
    """None where there is no such part, or one that something else made."""
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict) or content.get("parameters") != parameters:
        return None
    values: Values | None = content.get("values")
    return values


def _name_of(parameters: Parameters) -> str:
    """The parameters that are given, as a name for a file."""
    given = (str(value) for value in parameters.values() if value is not None)
    return "_".join(re.sub(r"[^A-Za-z0-9.]+", "-", each).strip("-") for each in given)
