"""Planted faults do what they say to what is published, and are gone afterwards.

Each is told by one statistic of what its block published, which lies in a range that sound releases
of the same chance do not reach.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sottovoce_spark import _noise, repeatable, sharded_job
from support.chance import drawing
from support.faults.bending import PlantedFault
from support.planted_faults import PLANTED_FAULTS, fault_named
from support.unlike_counts import WAYS, neighbours, true_columns, unlike_counts

from sottovoce.privacy import _sparse_noise, mechanism, randomness, sampler
from sottovoce.release import plan
from sottovoce.release.compression import frequency, maps, word_map
from sottovoce.release.counts import Counts
from sottovoce.release.plan import Released

Mask: TypeAlias = NDArray[np.bool_]
TOUCHED = (
    mechanism,
    mechanism.GeometricMechanism,
    _noise.NoiseTask,
    randomness,
    randomness.SystemKeystream,
    repeatable.RepeatableMechanism,
    sampler,
    sampler.TableSampler,
    _sparse_noise,
    _sparse_noise.SparseNoise,
    sharded_job,
    plan.ColumnNoise,
    plan.ReleasePlan,
    frequency,
    frequency.LocalPrior,
    maps.GroupedCompression,
    word_map.WordMap,
)
# Under one secret two releases are two attempts of the same tasks.
ONE_SECRET = {"other_data_gets_the_same_noise", "retried_shards_get_other_noise"}


@cache
def counts_called(name: str) -> Counts:
    return unlike_counts()[name]


@dataclass(frozen=True, eq=False)
class Seen:
    """Two releases of the same counts."""

    counts: Counts
    first: Released
    second: Released
    rate: float

    @property
    def truth(self) -> NDArray[np.int64]:
        return true_columns(self.counts, self.first)

    @property
    def out(self) -> NDArray[np.int64]:
        return np.asarray(self.first.counts.toarray())

    @property
    def noise(self) -> NDArray[np.int64]:
        return self.out - self.truth

    @property
    def other(self) -> NDArray[np.int64]:
        return np.asarray(self.second.counts.toarray()) - true_columns(self.counts, self.second)

    @property
    def totals(self) -> NDArray[np.int64]:
        return np.asarray(self.counts.sum(axis=0)).ravel()


def two_releases(fault: PlantedFault) -> Seen:
    way, counts = WAYS[fault.way], counts_called(fault.counts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mechanism, "available_cores", lambda: 2)
        if fault.name in ONE_SECRET:
            patch.setattr(sharded_job, "noise_secret", lambda: bytes(range(32)))
        changed = neighbours(counts)["a word more"][0]
        others = changed if fault.name.startswith("other_data") else counts
        first, second = way.publish(counts), way.publish(others)
    return Seen(counts, first, second, float(way.plan(counts.shape[1]).noise_rate))


def sound_and_faulty(fault: PlantedFault) -> tuple[Seen, Seen]:
    with drawing(fault.name):
        sound = two_releases(fault)
    with drawing(fault.name), fault.planted():
        faulty = two_releases(fault)
    return sound, faulty


def everywhere(seen: Seen) -> Mask:
    return np.ones(seen.truth.shape, bool)


def counts_of(number: int) -> Callable[[Seen], Mask]:
    return lambda seen: seen.truth == number


def rows(chosen: Callable[[NDArray[np.int64]], Mask]) -> Callable[[Seen], Mask]:
    return lambda s: np.broadcast_to(chosen(np.arange(len(s.truth)))[:, None], s.truth.shape)


def columns(chosen: Callable[[NDArray[np.int64]], Mask]) -> Callable[[Seen], Mask]:
    return lambda s: np.broadcast_to(chosen(np.arange(s.truth.shape[1])), s.truth.shape)


def run(chosen: Callable[[NDArray[np.int64]], Mask]) -> Callable[[Seen], Mask]:
    return lambda s: chosen(np.arange(s.truth.size)).reshape(s.truth.shape)


def unused(axis: int) -> Callable[[Seen], Mask]:
    return lambda s: np.broadcast_to(s.truth.sum(axis=axis, keepdims=True) == 0, s.truth.shape)


def longer(seen: Seen) -> Mask:
    lengths = seen.truth.sum(axis=1, keepdims=True)
    return np.broadcast_to(lengths > lengths.mean(), seen.truth.shape)


def first_of_shards(seen: Seen) -> Mask:
    return rows(lambda row: row % 50 == 0)(seen) & columns(lambda column: column == 0)(seen)


def rests_of_shards(seen: Seen) -> Mask:
    found = np.zeros(seen.truth.size, bool)
    for begin, end in ((0, 7), (7, 21), (21, 35), (35, 49)):
        found[end - (end - begin) % 8 : end] = True
    return found.reshape(seen.truth.shape)


class Tell(NamedTuple):
    """A statistic, and where it lies when the fault is planted."""

    statistic: Callable[[Seen], Any]
    low: float
    high: float


def share(said: Callable[[Seen], Any], low: float, high: float) -> Tell:
    return Tell(lambda seen: np.mean(said(seen)), low, high)


def width(where: Callable[[Seen], Mask], low: float, high: float) -> Tell:
    """The mean size of the noise there, as a share of what it should be."""

    def found(seen: Seen) -> float:
        alpha = math.exp(-seen.rate)
        sizes = np.concatenate([abs(seen.noise)[where(seen)], abs(seen.other)[where(seen)]])
        return float(sizes.mean()) / (2 * alpha / (1 - alpha**2))

    return Tell(found, low, high)


def silent(where: Callable[[Seen], Mask]) -> Tell:
    return width(where, 0, 0)


def extreme(value: Callable[[Seen], Any], low: float, high: float) -> Tell:
    return Tell(lambda seen: np.max(value(seen)), low, high)


def alike(one: Callable[[Seen], Any], other: Callable[[Seen], Any], low: float = 1) -> Tell:
    return share(lambda seen: one(seen) == other(seen), low, 1)


def flat(seen: Seen) -> NDArray[np.int64]:
    return seen.noise.ravel()


def words_in_sums(seen: Seen) -> NDArray[np.int64]:
    used = seen.counts.copy()
    used.data[:] = 1
    return true_columns(used, seen.first)


def _touching(seen: Seen) -> Any:  # noqa: ANN401 - a number of numpy's
    came = (seen.out != 0)[seen.truth == 0]
    return (came[1:] & came[:-1]).sum()


def _lean(seen: Seen) -> float:
    noise = seen.noise
    return float(noise[noise > 0].mean() / -noise[noise < 0].mean())


def _uneven(seen: Seen) -> float:
    """By chi-square, how far small noise is from as often as its law has it."""
    values = np.arange(-6, 7)
    alpha = math.exp(-seen.rate)
    due = seen.noise.size * (1 - alpha) / (1 + alpha) * alpha ** abs(values)
    came = (seen.noise.ravel()[:, None] == values).sum(axis=0)
    return float(((came - due) ** 2 / due).sum())


def _two_signs(seen: Seen) -> Any:  # noqa: ANN401 - a mask of numpy's
    return (seen.noise > 0).any(axis=1) & (seen.noise < 0).any(axis=1)


def longest(seen: Seen) -> Mask:
    lengths = seen.truth.sum(axis=1, keepdims=True)
    return np.broadcast_to(lengths == lengths.max(), seen.truth.shape)


def _kept_order(seen: Seen) -> float:
    lengths = seen.out.sum(axis=1)
    return float(np.corrcoef(lengths, np.arange(lengths.size))[0, 1])


def _stored(seen: Seen) -> NDArray[np.bool_]:
    found = seen.first.counts
    ones = sparse.csr_array((np.ones(found.nnz), found.indices, found.indptr), shape=found.shape)
    return np.asarray(ones.toarray()[seen.truth > 0] > 0)


def _with_frequencies(seen: Seen) -> float:
    words = seen.first.frequencies
    return float(np.corrcoef(words, flat(seen)[: words.size])[0, 1])


again_later = alike(lambda s: s.noise, lambda s: s.other)
TELLS: dict[str, Tell] = {
    "five_percent_less": width(everywhere, 0.93, 0.97),
    "two_percent_less": width(everywhere, 0.975, 0.985),
    "rate_rounded_to_a_tenth": width(everywhere, 0.79, 0.86),
    "rate_of_the_mean_word": width(everywhere, 0.1, 0.14),
    "counts_get_the_whole_rate": width(everywhere, 0.83, 0.92),
    "prior_gets_the_whole_rate": Tell(lambda s: s.first.frequencies.mean(), 2, 30),
    "ones_have_no_noise": silent(counts_of(1)),
    "ones_have_half_the_noise": width(counts_of(1), 0.2, 0.45),
    "large_counts_have_no_noise": silent(everywhere),
    "zeros_have_no_noise": silent(counts_of(0)),
    "zeros_never_come_out": silent(counts_of(0)),
    "zeros_come_out_too_seldom": share(lambda s: s.out[s.truth == 0] != 0, 0.008, 0.02),
    "best_of_two_draws": width(everywhere, 0.34, 0.44),
    "mean_of_two_draws": width(everywhere, 0.3, 0.75),
    "unlucky_draws_are_drawn_again": width(everywhere, 0.7, 0.8),
    "counts_below_the_threshold_are_dropped_first": share(
        lambda s: s.out[s.truth == 2] != 0, 0.02, 0.06
    ),
    "tails_are_cut": extreme(lambda s: abs(s.noise), 8, 8),
    "tails_end_with_sixteen_bits": extreme(lambda s: abs(s.noise), 18, 23),
    "noise_fits_into_four_bits": extreme(lambda s: abs(s.noise), 8, 8),
    "noise_is_never_negative": extreme(lambda s: -s.noise, 0, 0),
    "outputs_are_never_negative": extreme(lambda s: -s.out, 0, 0),
    "noise_is_never_odd": share(lambda s: s.noise % 2, 0, 0),
    "noise_is_never_zero": share(lambda s: s.noise == 0, 0, 0),
    "one_value_never_comes_out": share(lambda s: s.noise == -2, 0, 0),
    "outputs_stay_below_the_longest_count": extreme(
        lambda s: s.out - s.truth.max(axis=1, keepdims=True), 0, 0
    ),
    "zeros_come_out_positive": extreme(lambda s: -s.out[s.truth == 0], 0, 0),
    "zeros_come_out_above_the_threshold_only": share(lambda s: s.out[s.truth == 0] == 3, 0, 0),
    "neighbouring_zeros_never_both_come_out": Tell(_touching, 0, 0),
    "rows_share_their_noise": alike(lambda s: s.noise[1:], lambda s: s.noise[:1]),
    "pairs_of_rows_share_their_noise": alike(lambda s: s.noise[1::2], lambda s: s.noise[::2]),
    "rows_are_mirrored": alike(lambda s: s.noise[1:50:2], lambda s: -s.noise[:50:2]),
    "columns_are_mirrored": alike(lambda s: s.noise[:, 1::2], lambda s: -s.noise[:, ::2]),
    "distant_rows_share_their_noise": alike(lambda s: s.noise[97:], lambda s: s.noise[:-97]),
    "equal_documents_get_equal_noise": alike(lambda s: s.noise[1:], lambda s: s.noise[:1]),
    "equal_releases_get_equal_noise": again_later,
    "runs_of_a_second_share_their_noise": again_later,
    "noise_from_a_seeded_generator": again_later,
    "keystream_goes_round": alike(lambda s: flat(s)[4096:], lambda s: flat(s)[:-4096], 0.95),
    "keystream_goes_round_late": alike(lambda s: flat(s)[65536:], lambda s: flat(s)[:-65536], 0.6),
    "threads_share_a_key": alike(
        lambda s: flat(s)[s.noise.size // 2 :], lambda s: flat(s)[: s.noise.size // 2], 0.95
    ),
    "shards_share_their_noise": alike(lambda s: s.noise[:50], lambda s: s.noise[50:100]),
    "other_data_gets_the_same_noise": share(lambda s: s.noise[100:150] == s.other[100:150], 0.9, 1),
    "sharded_releases_share_a_secret": again_later,
    "retried_shards_get_other_noise": share(lambda s: s.noise == s.other, 0, 0.6),
    "prior_and_counts_share_their_noise": Tell(_with_frequencies, 0.6, 1),
    "noise_is_kept_for_the_next_release": again_later,
    "tenth_of_cells_is_copied": share(lambda s: s.noise == 0, 0.3, 0.34),
    "hundredth_of_cells_is_copied": share(lambda s: s.noise == 0, 0.2495, 0.256),
    "tenth_of_rows_is_copied": share(lambda s: ~s.noise.any(axis=1), 0.03, 0.2),
    "noise_shrinks_with_the_count": width(counts_of(3), 0.1, 0.2),
    "noise_shrinks_with_the_length": width(longer, 0.25, 0.4),
    "sign_follows_the_parity": extreme(lambda s: -s.noise[s.truth % 2 == 1], 0, 0),
    "sign_leans_upwards_on_used_words": share(lambda s: s.noise[s.truth > 0], 0.15, 0.28),
    "noise_leans_towards_the_truth": width(everywhere, 0.62, 0.74),
    "parity_of_the_truth_stays": share(lambda s: s.noise % 2, 0, 0),
    "length_of_a_document_stays": extreme(lambda s: abs(s.noise.sum(axis=1)), 0, 0),
    "length_of_a_document_stays_unseen": extreme(lambda s: abs(s.noise.sum(axis=1)), 0, 0),
    "totals_of_words_stay": extreme(lambda s: abs(s.noise.sum(axis=0)), 0, 0),
    "unused_words_have_no_noise": silent(unused(0)),
    "empty_documents_have_no_noise": silent(unused(1)),
    "used_cells_are_stored": share(_stored, 1, 1),
    "used_cells_come_first": share(lambda s: s.first.counts.has_sorted_indices, 0, 0),
    "used_cells_pass_the_threshold": extreme(lambda s: -s.first.counts.data, -2, 99),
    "documents_lie_by_length": Tell(_kept_order, -1, -0.3),
    "first_row_has_half": width(rows(lambda row: row == 0), 0.3, 0.6),
    "last_row_has_none": silent(rows(lambda row: row == 199)),
    "every_seventh_row_has_half": width(rows(lambda row: row % 50 % 7 == 6), 0.25, 0.4),
    "second_half_has_four_fifths": width(rows(lambda row: row >= 100), 0.74, 0.82),
    "first_column_has_half": width(columns(lambda column: column == 0), 0.35, 0.55),
    "last_column_has_none": silent(columns(lambda column: column == 19)),
    "only_first_columns_have_noise": silent(columns(lambda column: column >= 8)),
    "every_sixteenth_cell_has_none": silent(run(lambda cell: cell % 16 == 15)),
    "first_cell_of_a_run_has_none": silent(first_of_shards),
    "rest_of_a_run_has_none": silent(rests_of_shards),
    "only_the_first_block_has_noise": silent(run(lambda cell: cell >= 4096)),
    "last_part_has_none": silent(rows(lambda row: row >= 512)),
    "last_shard_has_none": silent(rows(lambda row: row >= 150)),
    "first_shard_has_half": width(rows(lambda row: row < 50), 0.25, 0.4),
    "only_the_first_map_is_noised": width(rows(lambda row: row % 4 > 0), 0.25, 0.4),
    "prior_is_noised_once": Tell(lambda s: s.first.frequencies.std(), 40, 85),
    "every_second_block_has_none": silent(rows(lambda row: row // 8 % 2 == 1)),
    "laplace_noise_cut_towards_zero": share(lambda s: s.noise == 0, 0.37, 0.42),
    "laplace_noise_rounded": share(lambda s: s.noise == 0, 0.75, 0.8),
    "geometric_by_coarse_inverse": extreme(lambda s: abs(s.noise), 8, 12),
    "gaussian_noise_of_the_same_width": share(lambda s: abs(s.noise) > 8, 0, 0.005),
    "uniform_noise_of_the_same_width": extreme(lambda s: abs(s.noise), 4, 5),
    "one_geometric_draw_with_a_sign": share(lambda s: s.noise == 0, 0.37, 0.42),
    "noise_is_biased": share(lambda s: s.noise, 0.07, 0.13),
    "noise_is_heavier_above": Tell(_lean, 1.3, 1.7),
    "noise_is_lighter_below": share(lambda s: s.noise, 0.3, 1),
    "words_are_noised_before_they_are_summed": silent(counts_of(0)),
    "sums_of_many_words_have_less": width(lambda s: words_in_sums(s) > 1, 0.25, 0.4),
    "frequencies_are_true": extreme(lambda s: abs(s.first.frequencies - s.totals), 0, 0),
    "map_follows_the_truth": alike(lambda s: s.first.maps[0].column[:4], lambda s: np.arange(4)),
    "constant_work_takes_the_short_way": silent(unused(1)),
    "last_column_has_two_thirds": width(columns(lambda column: column == 59), 0.5, 0.78),
    "large_counts_have_a_fifth_less": width(everywhere, 0.74, 0.82),
    "longest_document_has_half": width(longest, 0.2, 0.68),
    "words_of_one_document_have_half": width(columns(lambda column: column == 30), 0.33, 0.56),
    "rows_are_seeded_by_their_number": again_later,
    "next_release_has_the_mirrored_noise": alike(lambda s: s.noise, lambda s: -s.other),
    "rows_are_rotated": alike(lambda s: s.noise[1::2], lambda s: np.roll(s.noise[::2], 5, axis=1)),
    "equal_documents_get_equal_sizes": alike(
        lambda s: abs(s.noise[1:]), lambda s: abs(s.noise[:1])
    ),
    "shards_share_half_of_their_noise": alike(
        lambda s: s.noise[:50, ::2], lambda s: s.noise[50:100, ::2]
    ),
    "rows_have_one_sign": share(_two_signs, 0, 0),
    "constant_work_has_a_tenth_less": width(everywhere, 0.82, 0.92),
    "noise_comes_from_a_pool": Tell(_uneven, 45, 2000),
}


@pytest.mark.parametrize("fault", PLANTED_FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_does_what_it_says_and_a_sound_release_does_not(
    fault: PlantedFault,
) -> None:
    sound, faulty = sound_and_faulty(fault)
    tell = TELLS[fault.name]
    assert tell.low <= tell.statistic(faulty) <= tell.high
    assert not tell.low <= tell.statistic(sound) <= tell.high


@pytest.mark.parametrize("fault", PLANTED_FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_leaves_no_trace(fault: PlantedFault) -> None:
    before = [dict(vars(each)) for each in TOUCHED]
    way, counts = WAYS[fault.way], counts_called("a square of seven")
    with drawing(fault.name):
        sound = way.publish(counts).counts.toarray()
    with fault.planted():
        assert [dict(vars(each)) for each in TOUCHED] != before
        way.publish(counts)
    assert [dict(vars(each)) for each in TOUCHED] == before
    with drawing(fault.name):
        assert (way.publish(counts).counts.toarray() == sound).all()


def test_every_fault_says_what_goes_wrong_and_where_it_shows() -> None:
    names = [fault.name for fault in PLANTED_FAULTS]
    assert len(names) == len(set(names)) == len(TELLS)
    assert set(names) == set(TELLS)
    for fault in PLANTED_FAULTS:
        assert fault.what.endswith(".")
        assert fault.way in WAYS
        assert fault.counts in unlike_counts()
        assert fault_named(fault.name) is fault


def test_every_kind_of_fault_is_planted() -> None:
    for kind in ("scale", "support", "reuse", "correlation", "position", "mechanism"):
        assert sum(fault.kind == kind for fault in PLANTED_FAULTS) >= 5


@pytest.mark.parametrize("way", WAYS.values(), ids=lambda way: way.name)
def test_a_sound_release_of_every_way_has_the_noise_that_was_paid_for(way: Any) -> None:  # noqa: ANN401 - any
    counts = counts_called("few ones")
    released = way.publish(counts)
    noise = released.counts.toarray() - true_columns(counts, released)
    if "threshold" in way.settings:
        came = (released.counts.toarray() != 0)[true_columns(counts, released) == 0].mean()
        assert came == pytest.approx(math.exp(-3) / (1 + math.exp(-1)), rel=0.2)
    else:
        alpha = math.exp(-float(way.plan(counts.shape[1]).noise_rate))
        assert abs(noise).mean() == pytest.approx(2 * alpha / (1 - alpha**2), rel=0.15)
