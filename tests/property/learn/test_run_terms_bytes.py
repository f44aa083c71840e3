"""Terms travel and come back the same; bytes that are no terms are refused by name."""

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.text_runs import PUBLIC

from sottovoce.errors import DamagedRecordError
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.training_terms import Recipe
from sottovoce.learn.wire.codec import Value, decode_value, encode_value

TERMS = RunTerms(bytes(16), "train", "open", PUBLIC, Recipe(), TextRecipe())
RECIPES = st.builds(
    Recipe,
    statistics=st.sampled_from(["exact", "rados"]),
    penalty=st.none() | st.floats(1e-9, 1e9),
    penalties=st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=4).map(tuple),
    rados=st.integers(1, 10**6),
    fewest_documents=st.integers(5, 50),
    key_bits=st.sampled_from([2048, 3072]),
    solver=st.sampled_from(["masked", "chebyshev"]),
    queries=st.none() | st.integers(1, 10**6),
)
TEXTS = st.one_of(
    st.builds(
        TextRecipe,
        width=st.integers(1, 5000),
        candidates=st.integers(1, 5000),
        unit=st.sampled_from(["document", "sentence"]),
        stem=st.sampled_from([None, "english"]),
        bigrams=st.booleans(),
        padded=st.booleans(),
        stop_words=st.lists(st.text("abc", min_size=1), max_size=3).map(tuple),
    ),
    st.builds(
        TextRecipe,
        dictionary=st.just("hashed"),
        values=st.just("counts"),
        signed=st.booleans(),
        keyed=st.booleans(),
    ),
    st.builds(
        TextRecipe,
        dictionary=st.just("given"),
        words=st.lists(st.text("abcdef", min_size=2), min_size=1, max_size=5, unique=True).map(
            tuple
        ),
    ),
)


@settings(deadline=None, max_examples=25)
@given(
    recipe=RECIPES,
    text=TEXTS,
    labels=st.lists(st.text(min_size=1, max_size=5), max_size=6, unique=True).filter(
        lambda names: len(names) != 1
    ),
    held_out=st.floats(0, 0.5),
    session=st.binary(min_size=16, max_size=16),
)
def test_terms_come_back_as_they_were(
    recipe: Recipe, text: TextRecipe, labels: list[str], held_out: float, session: bytes
) -> None:
    terms = RunTerms(
        session, "train", "open", PUBLIC, recipe, text, labels=tuple(sorted(labels)),
        held_out=held_out,
    )  # fmt: skip
    again = RunTerms.from_bytes(terms.to_bytes())
    assert again == terms
    assert again.to_bytes() == terms.to_bytes()


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=200))
def test_any_bytes_are_terms_or_refused(data: bytes) -> None:
    with pytest.raises(DamagedRecordError):
        RunTerms.from_bytes(data)


@settings(deadline=None, max_examples=120)
@given(at=st.integers(0, len(TERMS.to_bytes()) - 1), byte=st.integers(0, 255))
def test_one_changed_byte_gives_other_terms_or_a_refusal(at: int, byte: int) -> None:
    damaged = bytearray(TERMS.to_bytes())
    damaged[at] = byte
    try:
        terms = RunTerms.from_bytes(bytes(damaged))
    except DamagedRecordError:
        return
    assert (terms == TERMS) == (bytes(damaged) == TERMS.to_bytes())


@settings(deadline=None, max_examples=100)
@given(name=st.sampled_from(sorted(RunTerms.__dataclass_fields__)), other=st.sampled_from(
    [7, b"bytes", "text", (), ("a", 1), {"a": 1}, np.arange(3), -1, 10**30, np.array([np.nan])]
))  # fmt: skip
def test_a_field_of_another_type_is_refused_or_valid(name: str, other: Value) -> None:
    whole = decode_value(TERMS.to_bytes())
    assert isinstance(whole, dict)
    fields = whole["terms"]
    assert isinstance(fields, dict)
    data = encode_value({**whole, "terms": {**fields, name: other}})
    with contextlib.suppress(DamagedRecordError):
        RunTerms.from_bytes(data)


def test_another_version_is_refused_with_what_to_do() -> None:
    whole = decode_value(TERMS.to_bytes())
    assert isinstance(whole, dict)
    with pytest.raises(DamagedRecordError, match="version 5, got 3; use the same"):
        RunTerms.from_bytes(encode_value({**whole, "version": 3}))
    with pytest.raises(DamagedRecordError, match="known fields"):
        RunTerms.from_bytes(encode_value({**whole, "more": 1}))
