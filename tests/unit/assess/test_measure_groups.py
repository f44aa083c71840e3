"""Measures that are called together: recommended ones, and the paper's."""

import pytest

from sottovoce.assess.measures.catalogue import PAPER_METHODS, chosen_measures
from sottovoce.errors import ParameterError


def test_voice_comes_first_where_its_model_is_and_is_left_out_where_not() -> None:
    with_model = list(chosen_measures(("recommended",), ("bow", "voice", "voice-s")))
    assert with_model == ["voice-t", "bow-t", "keyword-kinds"]
    assert list(chosen_measures(("recommended",), ("bow",))) == ["bow-t", "keyword-kinds"]


def test_the_papers_fourteen_are_called_paper_and_as_before_all() -> None:
    spaces = ("bow", "w2v", "lda", "voice")
    assert tuple(chosen_measures(("paper",), spaces)) == PAPER_METHODS
    assert tuple(chosen_measures(("all",), spaces)) == PAPER_METHODS
    assert len(PAPER_METHODS) == 14


def test_groups_and_names_mix_and_each_is_there_once() -> None:
    found = list(chosen_measures(("recommended", "ent", "bow-t"), ("bow",)))
    assert found == ["bow-t", "keyword-kinds", "ent"]


def test_a_speaker_needs_the_voice_model() -> None:
    with pytest.raises(ParameterError, match="train --space voice and give it"):
        chosen_measures(("voice-st",), ("bow",))
