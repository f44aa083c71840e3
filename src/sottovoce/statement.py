"""Privacy statements: what a release, a count or a rank server promises.

A statement answers the questions of NIST SP 800-226 by figures of a card alone; where a card cannot
know the answer it says who must give it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Final

from sottovoce.advisor.rank.description import Description, HttpTransport
from sottovoce.corpus.read.bytes import check_file, readable
from sottovoce.errors import InputError
from sottovoce.files import small_text
from sottovoce.parsing import parse_json
from sottovoce.privacy.exact import text_up

if TYPE_CHECKING:
    from sottovoce.learn.count.opened import TogetherCounts
    from sottovoce.release.card import ReleaseCard

QUESTIONS: Final = {
    "unit": "What is one unit of privacy?",
    "epsilon": "How large is epsilon?",
    "meaning": "What does that mean?",
    "model": "Where is the noise added, and who must be trusted?",
    "threats": "Against whom does it hold?",
    "mechanism": "Which mechanism is it, and how is it known to be right?",
    "composition": "What if there is more than one?",
    "accuracy": "What does it do to the numbers, and to whom is that unfair?",
    "security": "What guards the data before there is noise on them?",
    "collection": "What was collected in the first place?",
    "not_protected": "What is not protected?",
}
FILL_IN: Final = "*For whoever publishes this to fill in:* "
COLLECTED: Final = (
    f"{FILL_IN}whose data they are, how and on what ground they were obtained, who else has them, "
    "and when they are deleted. Noise on what is published protects nobody from the collection "
    "itself."
)
RARE: Final = (
    "Noise has the same size for all, so it matters most for what is rare: rare words and small "
    "groups of people disappear in it first, and conclusions about them are the least reliable. "
    f"{FILL_IN}who is missing from the data, and for whom a wrong conclusion would be worst."
)
SMALLER: Final = "The smaller epsilon is, the less any outcome reveals. There is no delta. "
TESTED: Final = (
    "The noise is drawn exactly, from the operating system's randomness, with no floating point "
    "between the data and the noise. "
)
_WIDTH, _MOST_BYTES = 80, 1 << 20


@dataclass(frozen=True)
class PrivacyStatement:
    """The answers of one card, in the order of `QUESTIONS`."""

    of: str
    answers: Mapping[str, str]

    def __post_init__(self) -> None:
        if tuple(self.answers) != tuple(QUESTIONS):
            raise ValueError("a statement answers every question, in their order")

    def markdown(self) -> str:
        """The statement as a page of Markdown."""
        parts = [
            f"## {QUESTIONS[name]}\n\n{_wrap_lines(told)}" for name, told in self.answers.items()
        ]
        about = (
            "It answers the questions of NIST SP 800-226 (Guidelines for Evaluating Differential "
            "Privacy Guarantees) from the card alone."
        )
        return "\n\n".join([f"# Privacy statement: {self.of}", _wrap_lines(about), *parts]) + "\n"

    def facts(self) -> dict[str, object]:
        """The statement for machines."""
        told = self.answers.items()
        rows = [{"about": k, "question": QUESTIONS[k], "answer": answer} for k, answer in told]
        return {"of": self.of, "answers": rows}


def _wrap_lines(text: str) -> str:
    """A paragraph, or points, in lines that a terminal shows whole."""
    indents = (("  " if line.startswith("- ") else "", line) for line in text.splitlines())
    return "\n".join(fill(line, _WIDTH, subsequent_indent=indent) for indent, line in indents)


def list_points(told: list[str]) -> str:
    """Points, one a line."""
    return "\n".join(f"- {each};" for each in told[:-1]) + f"\n- {told[-1]}."


def release_statement(card: "ReleaseCard") -> PrivacyStatement:
    """What the card of a release says."""
    return PrivacyStatement(
        "word counts of a release",
        {
            "unit": _release_unit(card),
            "epsilon": _release_epsilon(card),
            "meaning": card.in_words(),
            "model": _release_model(card),
            "threats": card.threat_model(),
            "mechanism": "Two-sided geometric noise on every count, zeros included, at the rate "
            f"{card.noise_rate} for each word. {TESTED}`sottovoce audit --release` tries this "
            "folder; what it cannot see, it says.",
            "composition": _release_composition(card),
            "accuracy": _release_accuracy(card),
            "security": "This folder needs no protection: anyone may read it. The true texts, and "
            "the ledger with its key, need it; the promise does not cover how they are kept. "
            f"{FILL_IN}who can read the true texts, and how that is logged.",
            "collection": COLLECTED,
            "not_protected": _release_gaps(card),
        },
    )


def _release_unit(card: "ReleaseCard") -> str:
    from sottovoce.release.card import WORD  # noqa: PLC0415 - slow to import

    user = (
        "Nothing is promised about all that one person wrote: the number of documents per person "
        "has no limit."
        if card.per_user is None
        else f"Of each user at most {card.documents_per_user} documents are in it, and for these "
        f"together N = {card.per_user.n} and epsilon = {text_up(card.per_user.epsilon)} hold."
    )
    row = card.row
    what = f"Up to N = {card.guarantee.n} words of one {row}; not the {row} as a whole"
    return f"{what}, and not that it is there. {WORD} {user}"


def _release_epsilon(card: "ReleaseCard") -> str:
    held = f"epsilon = {text_up(card.guarantee.epsilon)} for N = {card.guarantee.n} words. "
    further = "For documents further apart it grows in proportion. "
    if card.stated == card.guarantee:
        return f"{held}{further}{SMALLER}"
    return (
        f"{held}It was asked for as epsilon = {text_up(card.stated.epsilon)} by the accounting of "
        f"the paper, which does not hold; what holds is the larger one. {further}{SMALLER}"
    )


def _release_model(card: "ReleaseCard") -> str:
    if card.prior["kind"] == "central":
        return (
            "A trusted curator: word frequencies were computed from all true counts, and who did "
            f"that saw them. They cost {card.prior['rate']} of the rate, which is counted above."
        )
    paid = (
        ""
        if card.prior["kind"] == "public"
        else f" Word frequencies were learnt under noise too, at {card.prior['rate']} of the rate."
    )
    if card.groups is not None:
        return (
            "A trusted curator: whoever put the documents of a row together, which may be many "
            f"people's, saw their true counts. Noise is on each row by itself.{paid}"
        )
    return (
        "The local model: noise is on each document by itself, so that it could have been added "
        "before anybody else saw it. Where somebody has the true texts, as whoever made this "
        f"release had, they must be trusted with them.{paid}"
    )


def _release_composition(card: "ReleaseCard") -> str:
    paid = (
        "No ledger counted this release: the card cannot say what else was published about these "
        "documents."
        if card.ledger is None
        else f"It was paid for in a ledger (spend {card.ledger['spend']}), which refuses what goes "
        "beyond a document's budget. A ledger knows only what it was shown: not what was "
        "published elsewhere, nor a document with a changed word."
    )
    return f"Of several releases of one document the epsilons add up. {paid}"


def _release_accuracy(card: "ReleaseCard") -> str:
    dropped = (
        "Counts have no bias, and some are negative. "
        if card.threshold is None
        else f"Outputs below {card.threshold} were dropped, which biases the rest: read "
        "totals with `sottovoce analyse`. "
    )
    shared = (
        ""
        if card.columns == card.words
        else f"{card.words} words share {card.columns} columns, so that words of one column "
        "cannot be told apart. "
    )
    return f"{dropped}{shared}{RARE}"


def _release_gaps(card: "ReleaseCard") -> str:
    of_groups = "rows, in which order, and which groups there are"
    whose = "documents, in which order and whose" if card.groups is None else of_groups
    words = "which words are counted: the list is public, whatever the documents say"
    if card.vocabulary["data_dependent"] or card.vocabulary["declared"]:
        said = ", ".join(card.vocabulary["declared"]) or "the words"
        words = f"what the documents themselves chose and was declared: {said}"
    told = [
        f"that there are {card.documents} {whose}",
        "what a long document is about: each of its words adds to what a reader can learn",
        words,
    ]
    if card.labels is not None:
        told.append("the label of each document, which is published as it is")
    return list_points(told)


def count_statement(counted: "TogetherCounts") -> PrivacyStatement:
    """What a count together says of itself; its sums are not part of the statement."""
    recipe, promise = counted.recipe, counted.guarantee
    return PrivacyStatement(
        f"{counted.what} counted together",
        {
            "unit": _count_unit(counted),
            "epsilon": f"epsilon = {text_up(promise.document_epsilon)} for adding or removing a "
            f"whole document of one of the {counted.parties} peers. {SMALLER}",
            "meaning": promise.in_words(),
            "model": "Between the local and the central model, with no curator: each of "
            f"{counted.parties} peers adds its share of the noise to its own sum and masks it, and "
            f"only the sum of {len(counted.survivors)} of them was opened. Each peer must trust "
            f"that at most {recipe.collude} of them tell what they know and at most {recipe.drop} "
            "are lost; it has named the others itself.",
            "threats": "Against everybody who reads the sums, the coordinator too, also if it lies "
            f"about the terms or about who was lost, together with up to {recipe.collude} peers. "
            "A peer that votes falsely makes the sums wrong; one that adds no noise is one of "
            "those who tell.",
            "mechanism": f"A document casts at most {recipe.votes} votes; the peers' shares sum to "
            f"two-sided geometric noise at the rate epsilon over votes. {TESTED}",
            "composition": "Of several counts and releases of one document the epsilons add up; "
            "each peer's ledger pays before noise is drawn. A document that k peers hold counts k "
            "times.",
            "accuracy": f"Votes are counted without bias; of a long document {recipe.votes} votes "
            f"are drawn, and what it did not vote for is missing. {RARE}",
            "security": "The sums need no protection. Each peer's texts, ledger and keys need it, "
            f"and stay with the peer. {FILL_IN}who runs the coordinator and each peer, and what "
            "binds them.",
            "collection": COLLECTED,
            "not_protected": _count_gaps(counted),
        },
    )


def _count_unit(counted: "TogetherCounts") -> str:
    bound = counted.recipe.documents_per_user
    user = (
        "Nothing is promised about all that one person wrote."
        if bound is None
        else f"Of each user at most {bound} documents vote at each peer, so that all of theirs "
        "there is a unit too."
    )
    return f"One whole document, its label included: that it is there, and all it says. {user}"


def _count_gaps(counted: "TogetherCounts") -> str:
    told = [
        f"that these {counted.parties} holders took part, and when",
        f"the list of {len(counted.words)} words, and the terms",
        "that a peer refused, where it did: there is a reason for it",
    ]
    if counted.labels:
        told.append(f"the names of the {len(counted.labels)} labels")
    if counted.recipe.declared:
        told.append("what the choice of the words tells: documents chose them, which was declared")
    return list_points(told)


_RUN_BY = f"{FILL_IN}who runs the server, under whose law, and how reports travel (TLS)."
_PAIR_RUN_BY = f"{FILL_IN}who runs each server, under whose law, and why they will not collude."
_UNIT = "The bucket of one person's score in one topic; {}. That they take part is not hidden. "
_MEANING = (
    "Whatever {} is at most e^{} times likelier from one bucket of a person's than from any other."
)
_ACCURACY = (
    "Ranks come with intervals that cover the true one in most cases if nobody lies, and no band "
    "is told where noise leaves another. Ranks are among those who report, not among all: who does "
    "not trust the server is missing. The score itself may be wrong about a "
    f"person. {FILL_IN}whom the measure was tried on, and whom it fits badly."
)
_COLLECTION = (
    "Of a report: a topic, a period, a random number and the noised bucket, or shares of it; no "
    "name, address or time, and requests are not logged. Reports are deleted when their period is "
    "published. Scores are computed on the person's own machine. {} people must report before "
    f"anything is published. {FILL_IN}who was invited to report, and what tokens, if any, tell."
)


def rank_statement(rules: Description) -> PrivacyStatement:
    """What a server with these rules promises to whoever reports."""
    told = _noise_answers(rules) if rules.mode == "noise" else _shares_answers(rules)
    told |= {"accuracy": _ACCURACY, "collection": _COLLECTION.format(rules.minimum)}
    of = f"rank server, mode {rules.mode}, of {', '.join(rules.by_name)}"
    return PrivacyStatement(of, {name: told[name] for name in QUESTIONS})


def _noise_answers(rules: Description) -> dict[str, str]:
    epsilon = text_up(rules.epsilon)
    return {
        "unit": _UNIT.format("each bucket that they were ever in is one"),
        "epsilon": f"epsilon = {epsilon} for each new bucket of each topic; the same bucket again "
        "is the same report and costs nothing. There is no delta.",
        "meaning": _MEANING.format("the server receives", epsilon),
        "model": "The local model: noise is on a report before it leaves the person's machine. The "
        "server need not be trusted with anybody's bucket.",
        "threats": "Against the server itself, also if it keeps every report for ever, and against "
        "everybody who reads what it publishes.",
        "mechanism": "The bucket as a vector with a single one, two-sided geometric noise on every "
        "entry at half of epsilon, clamped to one bit, and a fixed number of ones (subset "
        "selection). It is drawn exactly and once for each bucket, and kept: drawn again each "
        "period, it would average out.",
        "composition": "Distinct buckets, topics and servers add up. The person's own ledger "
        "counts them, and sends nothing beyond their budget.",
        "security": f"Reports are hidden by their own noise, wherever they are kept. {_RUN_BY}",
        "not_protected": "- that somebody reports, when, from where, and on which topics;\n"
        "- that a bucket changed, and when it came back: a kept report is nearly unique;\n"
        "- the histogram against lies: any set of as many buckets is a valid report, and a false "
        "one may count as many people.",
    }


def _shares_answers(rules: Description) -> dict[str, str]:
    epsilon = text_up(rules.epsilon)
    return {
        "unit": _UNIT.format("each period is one"),
        "epsilon": f"epsilon = {epsilon} for each topic and period of {rules.period_s} seconds. "
        "There is no delta.",
        "meaning": _MEANING.format("either server, or a reader, sees", epsilon),
        "model": "A central sum without a curator: a report is two shares, each uniform by itself, "
        "for two servers. It must be trusted that the two do not collude; neither has to be "
        "trusted by itself.",
        "threats": "Against either server, also if it does not keep to the protocol, and against "
        "everybody who reads what is published. Against both together nothing is promised.",
        "mechanism": "Prio3Histogram: the servers verify together that a report is of a single "
        "bucket, and open one sum for each topic and period, with two-sided geometric noise of "
        "each server's own at half of epsilon. It is drawn exactly.",
        "composition": "Periods, topics and pairs of servers add up. The person's own ledger "
        "counts them, and sends nothing beyond their budget. A store that was restored from a "
        "copy, but not started as restored, may open a sum again, which nobody has paid for.",
        "security": "Each server's store holds shares, which tell a bucket only together with the "
        f"other's. {_PAIR_RUN_BY}",
        "not_protected": "- that somebody reports, when, from where, and on which topics;\n"
        "- how many reports there were, once the least number is reached;\n"
        "- the histogram against lies: of a person about their own bucket, or of a server about "
        "the sum.",
    }


def make_statement(source: str | PathLike[str]) -> PrivacyStatement:
    """A privacy statement: what a release, count or rank server promises, and what not.

    It answers the questions of NIST SP 800-226 from the card alone; its ``markdown()`` is the text.

    >>> import tempfile, sottovoce as sv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = sv.release_counts(
    ...         ["my debt", "a loan"], words=["debt", "loan"], epsilon=2, precision=2,
    ...         ledger=f"{folder}/my.ledger", out=f"{folder}/released",
    ...     )
    ...     told = sv.make_statement(f"{folder}/released")
    >>> told.markdown().splitlines()[0][:19]
    '# Privacy statement'

    Args:
        source: a released folder, a .counts file, or a rank server's URL or rules.
    """
    from sottovoce.learn.count.opened import TogetherCounts  # noqa: PLC0415 - slow to import
    from sottovoce.release.folder import released_card  # noqa: PLC0415 - likewise

    path, named = Path(source), str(source)
    if named.startswith(("http://", "https://")):
        rules = HttpTransport(named).call("GET", "/description")
        return rank_statement(Description.from_record(rules))
    if path.is_dir():
        return release_statement(released_card(path))
    if path.suffix == ".counts":
        check_file(path)
        with readable(named):
            return count_statement(TogetherCounts.from_bytes(path.read_bytes()))
    return rank_statement(Description.from_record(read_rules(path)))


def read_rules(path: Path) -> dict[str, object]:
    """The rules of a rank server, as it prints them."""
    try:
        record = parse_json(small_text(path, _MOST_BYTES, "the rules of a rank server"))
    except InputError:
        raise  # it says what is wrong with the file, and what to do
    except ValueError:  # not JSON
        record = None
    if not isinstance(record, dict):
        raise InputError(
            f"{path} is not a released folder, .counts file or rules of a rank server; give one."
        )
    return record
