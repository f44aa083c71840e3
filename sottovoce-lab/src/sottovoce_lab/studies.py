"""All studies by name, as `sottovoce study` runs them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.errors import ParameterError
from sottovoce.privacy.exact import exact
from sottovoce.report.result import StudyResult
from sottovoce_lab.assess.blogs.study import run_assess_blogs
from sottovoce_lab.assess.figure_1 import run_figure_1 as run_assess_figure_1
from sottovoce_lab.assess.table_1 import run_assess_table_1
from sottovoce_lab.assess.table_2 import run_assess_table_2
from sottovoce_lab.assess.table_3 import run_assess_table_3
from sottovoce_lab.assess.tables import run_table_4, run_table_5, run_table_6
from sottovoce_lab.communities import run_study_loop
from sottovoce_lab.learn.figures import run_learn_figures
from sottovoce_lab.learn.printed import run_learn_paper
from sottovoce_lab.learn.solvers import run_learn_solvers
from sottovoce_lab.learn.table_1 import run_learn_table_1
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.release.analyse import run_release_analyse
from sottovoce_lab.release.figure_1 import run_release_figure_1
from sottovoce_lab.release.figure_2 import run_release_figure_2
from sottovoce_lab.release.synthetic import run_release_synthetic
from sottovoce_lab.release.table_1 import run_release_table_1
from sottovoce_lab.scale import run_scale

_READ = frozenset({"format", "fields", "header"})
_DOCUMENTS = frozenset({"data", "documents", "embedding", "seeds"})
_COMMUNITY = frozenset({"posts", "truth", "topics", "model"})
_ALL_THESE = _DOCUMENTS | _COMMUNITY | _READ
_OF_ONE_STUDY = {"half", "labels-column", "votes", "seconds", "rates", "readers"}


@dataclass(frozen=True)
class Study:
    """A table or figure of a paper, and how to make it again; its docstring says what it shows.

    ``takes`` are the options that it looks at, if only to say why it does not want them; all take
    --out, --quick and --json.
    """

    runner: Callable[[StudyOptions], StudyResult]
    takes: frozenset[str]

    @property
    def title(self) -> str:
        """The first line of the runner's docstring."""
        return (self.runner.__doc__ or "").partition("\n")[0].removesuffix(".")


STUDIES: dict[str, Study] = {
    "assess-table-1": Study(run_assess_table_1, _DOCUMENTS | {"votes"}),
    "assess-table-2": Study(run_assess_table_2, _READ | {"data", "documents", "seeds"}),
    "assess-table-3": Study(run_assess_table_3, _DOCUMENTS),
    "assess-table-4": Study(run_table_4, _ALL_THESE),
    "assess-table-5": Study(run_table_5, _ALL_THESE),
    "assess-table-6": Study(run_table_6, _ALL_THESE),
    "assess-figure-1": Study(run_assess_figure_1, _ALL_THESE),
    "assess-blogs": Study(
        run_assess_blogs, frozenset({"half", "labels-column", "posts", "topics", "model", "seeds"})
    ),
    "release-figure-1": Study(run_release_figure_1, _ALL_THESE),
    "release-synthetic": Study(run_release_synthetic, _DOCUMENTS | _COMMUNITY),
    "release-figure-2": Study(run_release_figure_2, _ALL_THESE),
    "release-table-1": Study(run_release_table_1, _ALL_THESE),
    "release-analyse": Study(
        run_release_analyse, frozenset({"data", "documents", "rates", "readers", "seeds"})
    ),
    "learn-table-1": Study(run_learn_table_1, frozenset({"documents"})),
    "learn-solvers": Study(run_learn_solvers, frozenset()),
    "learn-paper": Study(run_learn_paper, frozenset()),
    "learn-figures": Study(run_learn_figures, frozenset({"documents"})),
    "loop": Study(
        run_study_loop, frozenset({"data", "documents", "posts", "truth", "model", "seeds"})
    ),
    "scale": Study(run_scale, frozenset({"seconds"})),
}


def list_studies() -> list[dict[str, str]]:
    """Every study, and what it shows."""
    return [{"study": name, "shows": each.title} for name, each in STUDIES.items()]


def prepare_study(
    name: str, given: Mapping[str, Any], read: ReadOptions
) -> tuple[Study, StudyOptions, str]:
    """A study, what it is asked for, and the options given that it has no use for.

    Refused is an option that only another study can mean.
    """
    if name not in STUDIES:
        raise ParameterError(f"study must be list or one of {', '.join(STUDIES)}; got {name!r}.")
    known = {key.replace("_", "-") for key, value in given.items() if value is not None}
    unused = sorted(known - STUDIES[name].takes - {"out", "quick"})
    for option in unused:
        if option in _OF_ONE_STUDY:
            raise ParameterError(f"{name} takes no --{option}; leave it out.")
    own = {key: given[key] for key in given.keys() - {*_READ, "model", "votes", "rates"}}
    rates = given["rates"].split(",") if given["rates"] else ()
    options = StudyOptions(
        **own,
        read=read,
        models=tuple(given["model"] or ()),
        votes=tuple(given["votes"] or ()),
        rates=tuple(exact(each.strip(), "rates") for each in rates),
    )
    return STUDIES[name], options, ", ".join(f"--{option}" for option in unused)
