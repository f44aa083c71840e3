"""A privacy statement: what a card promises, as answers to the questions of NIST SP 800-226.

That guideline for evaluating promises of differential privacy asks from the top of a pyramid down:
how large epsilon is and what one unit is; then where noise is added, whom one trusts, whether the
mechanism is right, what it does to the numbers; at the bottom, what guards the data and what was
collected at all. A statement is made from a card alone: it has no figure that the card does not
hold, and where a card cannot know the answer it says who must give it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Final

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
    "and when they are deleted. Noise on what is published protects nobody from what was collected."
)
RARE: Final = (
    "Noise is of one size for all, so that it weighs most on what is rare: words, and people, of "
    "whom there are few are the first to disappear in it, and conclusions about small groups are "
    "the least reliable ones. "
)
CHOSEN: Final = (
    f"{FILL_IN}who is missing from the data, and for whom a wrong conclusion would be worst."
)
SMALLER: Final = "The smaller epsilon is, the less any outcome tells. There is no delta. "
TESTED: Final = (
    "The noise is drawn exactly, from the operating system's randomness, with no floating point "
    "between the data and the noise. "
)


_WIDTH = 80


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
        parts = [f"## {QUESTIONS[name]}\n\n{_wrapped(told)}" for name, told in self.answers.items()]
        about = (
            "It answers the questions of NIST SP 800-226 (Guidelines for Evaluating Differential "
            "Privacy Guarantees) from the card alone."
        )
        return "\n\n".join([f"# Privacy statement: {self.of}", _wrapped(about), *parts]) + "\n"

    def facts(self) -> dict[str, object]:
        """The statement for machines."""
        rows = [
            {"about": name, "question": QUESTIONS[name], "answer": answer}
            for name, answer in self.answers.items()
        ]
        return {"of": self.of, "answers": rows}


def _wrapped(text: str) -> str:
    """A paragraph, or points, in lines that a terminal shows whole."""
    return "\n".join(
        fill(line, _WIDTH, subsequent_indent="  " if line.startswith("- ") else "")
        for line in text.splitlines()
    )


def listed(told: list[str]) -> str:
    """Points, one a line."""
    return "\n".join(f"- {each};" for each in told[:-1]) + f"\n- {told[-1]}."
