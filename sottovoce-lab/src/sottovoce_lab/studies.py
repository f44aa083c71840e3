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
from sottovoce_lab.learn.figures import run_learn_figures
from sottovoce_lab.learn.printed import run_learn_paper
from sottovoce_lab.learn.solvers import run_learn_solvers
from sottovoce_lab.learn.table_1 import run_learn_table_1
from sottovoce_lab.loop import run_study_loop
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
    """A table or figure of a paper, and how to make it again.

    ``takes`` are the options that it looks at, if only to say why it does not want them; all take
    --out, --quick and --json.
    """

    title: str
    runner: Callable[[StudyOptions], StudyResult]
    takes: frozenset[str] = frozenset()


STUDIES: dict[str, Study] = {
    "assess-table-1": Study(
        "Topics by number of judges who call them sensitive, and their agreement",
        run_assess_table_1,
        _DOCUMENTS | {"votes"},
    ),
    "assess-table-2": Study(
        "Vocabulary of the sensitive topics in a trained model",
        run_assess_table_2,
        _READ | {"data", "documents", "seeds"},
    ),
    "assess-table-3": Study(
        "Sensitive users by majority of judges, in a sample by score",
        run_assess_table_3,
        _DOCUMENTS,
    ),
    "assess-table-4": Study(
        "Measures of structured data against topical strength of interest",
        run_table_4,
        _ALL_THESE,
    ),
    "assess-table-5": Study(
        "All measures in all spaces over all sensitive topics, and where personas stand",
        run_table_5,
        _ALL_THESE,
    ),
    "assess-table-6": Study(
        "R-precision of the latent measures, topic by topic", run_table_6, _ALL_THESE
    ),
    "assess-figure-1": Study(
        "Risk scores of users sampled by a^score against those of everybody",
        run_assess_figure_1,
        _ALL_THESE,
    ),
    "assess-blogs": Study(
        "All measures on real timelines, against post count, keywords and ENT",
        run_assess_blogs,
        frozenset({"half", "labels-column", "posts", "topics", "model", "seeds"}),
    ),
    "release-figure-1": Study(
        "Heatmaps of word counts before and after each mechanism, at one true epsilon",
        run_release_figure_1,
        _ALL_THESE,
    ),
    "release-synthetic": Study(
        "Topic Jaccards on LDA-generated documents over a grid of true rates",
        run_release_synthetic,
        _DOCUMENTS | _COMMUNITY,
    ),
    "release-figure-2": Study(
        "Topics and latent semantics of complaints under every compression",
        run_release_figure_2,
        _ALL_THESE,
    ),
    "release-table-1": Study(
        "A private topic beside the true one: the pair with the 10th-highest Jaccard",
        run_release_table_1,
        _ALL_THESE,
    ),
    "release-analyse": Study(
        "Topics and classes read from a release by its noise's law, beside honest baselines",
        run_release_analyse,
        frozenset({"data", "documents", "rates", "readers", "seeds"}),
    ),
    "learn-table-1": Study(
        "Misclassification and time, in clear, with rados encrypted and with theta encrypted",
        run_learn_table_1,
        frozenset({"documents"}),
    ),
    "learn-solvers": Study(
        "Gradient descent and the closed form on encrypted rados, beside the exact solve",
        run_learn_solvers,
        frozenset(),
    ),
    "learn-paper": Study(
        "Protocols 2 and 3 as printed, and block rados: what they get wrong on Ionosphere",
        run_learn_paper,
        frozenset(),
    ),
    "learn-figures": Study(
        "Figures 1 to 3 drawn from what ran: who sent whom what, in bytes",
        run_learn_figures,
        frozenset({"documents"}),
    ),
    "loop": Study(
        "Assess, release, assess again: exposure against usefulness over privacy settings",
        run_study_loop,
        frozenset({"data", "documents", "posts", "truth", "model", "seeds"}),
    ),
    "scale": Study(
        "Time, memory and bytes against posts, users and topics, and a plan for 10^9 users",
        run_scale,
        frozenset({"seconds"}),
    ),
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
