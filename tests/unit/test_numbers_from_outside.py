"""No number that somebody else wrote is worked out before its size is known."""

import ast
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce
from sottovoce.advisor.rank.description import Buckets, Description, RankedTopic
from sottovoce.errors import DamagedRecordError, InputError
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.recipe import CountRecipe
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.training_terms import Recipe
from sottovoce.learn.wire.codec import Value, decode_value, encode_value
from sottovoce.parsing import parse_toml

Run = Callable[..., tuple[int, str, str]]
SOURCE = Path(sottovoce.__file__).parent
HUGE = "1e300000000"
AT_ONCE_S = 1.0
# What is no text: numbers of this program, or text that it has just made of a float.
NO_TEXT = {
    "advisor/evidence.py": {"Fraction(repr(float(hysteresis)))"},
    "assess/alerts.py": {"Fraction(repr(float(hysteresis)))"},
    "assess/measures/interest.py": {"Fraction(repr(float(k)))"},
    "learn/paillier/slots.py": {"Fraction(magnitude)"},
    "learn/count/recipe.py": {"Fraction(2 * LARGEST_EPSILON)"},
    "learn/solve/plan.py": {"Fraction(self.entry)"},
    "privacy/exact.py": {
        "Decimal(number.denominator)",
        "Decimal(number.numerator)",
        "Decimal(text)",  # the one function
        "Fraction(nearest)",
        "Fraction(number)",
        "Fraction(*float(value).as_integer_ratio())",
    },
    "privacy/audit/sampler.py": {
        "Decimal(k + 1)",
        "Decimal(number.denominator)",
        "Decimal(number.numerator)",
        "Fraction(probability)",
    },
    "release/compression/frequency.py": {"Fraction(rate)"},
}


def unbounded_reads(tree: ast.AST) -> set[str]:
    """Calls that would make a number of any size of one text."""
    return {
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] in ("Fraction", "Decimal")
        and len(node.args) == 1
        and not isinstance(node.args[0], ast.Constant)
    }


def test_one_function_alone_makes_a_rational_of_a_text() -> None:
    found = {
        path.relative_to(SOURCE).as_posix(): unbounded_reads(ast.parse(path.read_text()))
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] != "lab"  # its rates are its own
    }
    assert {path: calls for path, calls in found.items() if calls} == NO_TEXT


def test_a_planted_read_of_a_text_is_found() -> None:
    planted = "import fractions\nfractions.Fraction(row['rate'])\nFraction('1/2')\nFraction(1, n)"
    assert unbounded_reads(ast.parse(planted)) == {"fractions.Fraction(row['rate'])"}


def at_once(call: Callable[[], Any]) -> None:
    begun = time.process_time()
    with pytest.raises((InputError, DamagedRecordError)) as refused:
        call()
    assert time.process_time() - begun < AT_ONCE_S
    assert 0 < len(str(refused.value)) < 300


PEERS = {name: bytes([at]) * 32 for at, name in enumerate(("ada", "ben", "cy"))}
WORDS = TextRecipe("given", ("debt", "loan"))
COUNT = RunTerms(bytes(16), "count", "open", PEERS, text=WORDS, count=CountRecipe())
TRAINING = RunTerms(bytes(16), "train", "open", PEERS, Recipe(), TextRecipe())


def crafted(terms: RunTerms, part: str, field: str, value: Value) -> bytes:
    """A proposal's terms with another value in one field of an optional record."""
    whole: Any = decode_value(terms.to_bytes())
    record: Mapping[str, Any] = whole["terms"]
    (inner,) = record[part] if isinstance(record[part], tuple) else (record[part],)
    changed: Any = dict(inner) | {field: value}
    again = (changed,) if isinstance(record[part], tuple) else changed
    return encode_value({"version": whole["version"], "terms": dict(record) | {part: again}})


@pytest.mark.parametrize(
    ("terms", "part", "field", "value", "says"),
    [
        (COUNT, "count", "epsilon", HUGE, "must lie between 1e-40 and 1e40"),
        (COUNT, "count", "epsilon", "1/" + "9" * 9000, "at most 8000 characters, got 9002"),
        (COUNT, "count", "votes", 1 << 900, "at most 63 bits"),
        (TRAINING, "recipe", "rados", 1 << 9000, "at most 63 bits"),
    ],
    ids=["exponent", "digits", "votes", "rados"],
)
def test_a_proposal_with_an_endless_number_is_refused_at_once(
    terms: RunTerms, part: str, field: str, value: Value, says: str
) -> None:
    data = crafted(terms, part, field, value)
    at_once(lambda: RunTerms.from_bytes(data))
    with pytest.raises(DamagedRecordError, match=says):
        RunTerms.from_bytes(data)


def test_a_kept_count_with_an_endless_epsilon_is_refused_at_once() -> None:
    recipe: dict[str, Any] = {
        "what": "words", "votes": 10, "epsilon": HUGE, "drop": 0, "collude": 1,
        "documents_per_user": None, "declared": False,
    }  # fmt: skip
    record: dict[str, Any] = {
        "version": 1, "kind": "count", "recipe": recipe, "words": ("a",), "labels": (),
        "totals": np.zeros(2, np.int64), "peers": tuple(PEERS), "survivors": tuple(PEERS),
    }  # fmt: skip
    TogetherCounts.from_bytes(encode_value(record | {"recipe": recipe | {"epsilon": "1"}}))
    begun = time.process_time()
    with pytest.raises(DamagedRecordError, match="epsilon: .* must lie between 1e-40 and 1e40"):
        TogetherCounts.from_bytes(encode_value(record))
    assert time.process_time() - begun < AT_ONCE_S


@pytest.mark.parametrize("number", ["1" + "0" * 5000, "0x" + "f" * 5000, "9" * 400])
def test_a_party_does_not_start_by_a_configuration_with_an_endless_number(
    tmp_path: Path, run: Run, number: str
) -> None:
    path = tmp_path / "party.toml"
    path.write_text(f'name = "ada"\nrole = "peer"\nlisten = "x:1"\n[count]\nvotes = {number}\n')
    run("learn", "peer", "--config", tmp_path / "none.toml")  # imports
    begun = time.process_time()
    code, out, err = run("learn", "peer", "--config", path)
    assert time.process_time() - begun < AT_ONCE_S
    assert (code, out) == (2, "")
    assert "party.toml: a number in it has too many digits" in err


def test_deep_tables_are_refused_in_a_sentence() -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        parse_toml("a = " + "[" * 50_000)


@pytest.mark.parametrize(
    "changes",
    [{"epsilon": HUGE}, {"period_s": "9" * 4000}, {"minimum_reports": int("9" * 4000)}],
    ids=["epsilon", "period", "minimum"],
)
def test_a_rank_server_with_endless_numbers_is_refused_at_once(changes: dict[str, Any]) -> None:
    topic = RankedTopic("debts", "ut", Buckets((0.5,)))
    record = Description("noise", Fraction(1), (topic,)).record()
    Description.from_record(record)
    at_once(lambda: Description.from_record(record | changes))


@pytest.mark.parametrize(
    "words",
    [
        ("audit", "--sampler", "--precision", "4"),
        ("release", "posts.csv", "--out", "released", "--precision", "4"),
    ],
    ids=["audit", "release"],
)
def test_a_command_answers_an_endless_epsilon_at_once(run: Run, words: tuple[str, ...]) -> None:
    run(*words, "--epsilon", "0")  # imports
    begun = time.process_time()
    code, out, err = run(*words, "--epsilon", HUGE)
    assert time.process_time() - begun < AT_ONCE_S
    assert (code, out) == (2, "")
    assert "epsilon must lie between 1e-40 and 1e40" in err
