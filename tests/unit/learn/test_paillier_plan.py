"""A slot that could overflow is refused at planning."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.learn.paillier.slots import Program, mask_bound, plan_slots


@pytest.mark.parametrize(("key_bits", "slots"), [(2048, 31), (3072, 47)])
def test_as_many_64_bit_slots_as_the_key_holds(key_bits: int, slots: int) -> None:
    assert plan_slots(Program.of_bits(10), key_bits=key_bits, slot_bits=64).slots == slots


def test_each_step_has_its_exact_bound() -> None:
    program = Program.start(1.5, 4).add_up(3).scale(0.3, 2).mask(64)
    factor = 2  # 0.3 * 4, rounded up
    bounds = [24, 72, 72 * factor]
    bounds.append(bounds[-1] + ((2 * bounds[-1] + 1) << 64))
    assert [stage.bound for stage in program.stages] == bounds
    assert program.last.fraction_bits == 6


def test_a_program_that_could_overflow_is_refused() -> None:
    program = Program.of_bits(20).add_up(1024)
    with pytest.raises(ParameterError, match="needs slots of 31 bits, got 30"):
        plan_slots(program, key_bits=2048, slot_bits=30)
    assert plan_slots(program, key_bits=2048, slot_bits=31).slots == 66


def test_a_program_that_no_plaintext_holds_is_refused() -> None:
    with pytest.raises(ParameterError, match="more than a key of 2048 bits holds"):
        plan_slots(Program.of_bits(2047), key_bits=2048)
    assert plan_slots(Program.of_bits(2046), key_bits=2048).slots == 1


def test_masks_have_64_bits_of_slack_or_more() -> None:
    assert mask_bound(100) == 201 << 64
    with pytest.raises(ParameterError, match="slack must be >= 64 bits, got 63"):
        Program.of_bits(8).mask(63)
