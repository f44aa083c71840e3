"""Faults of the release path, planted one at a time, for whatever claims to notice them.

They were written by somebody who had not seen a check. Each makes what truly publishes misbehave:
a faulty release is the product's, drawn by its own functions, which an audit has to catch. All are
of this process, its threads and the children it forks meanwhile.

>>> with fault_named("ones_have_no_noise").planted():  # doctest: +SKIP
...     WAYS["visiting"].publish(counts)
"""

from collections.abc import Sequence

from support.faults import correlation, mechanisms, position, reuse, scale, support_cuts
from support.faults.bending import PlantedFault

PLANTED_FAULTS: Sequence[PlantedFault] = [
    scale.five_percent_less,
    scale.two_percent_less,
    scale.rate_rounded_to_a_tenth,
    scale.rate_of_the_mean_word,
    scale.counts_get_the_whole_rate,
    scale.prior_gets_the_whole_rate,
    scale.ones_have_no_noise,
    scale.ones_have_half_the_noise,
    scale.large_counts_have_no_noise,
    scale.zeros_have_no_noise,
    scale.zeros_never_come_out,
    scale.zeros_come_out_too_seldom,
    scale.best_of_two_draws,
    scale.mean_of_two_draws,
    scale.unlucky_draws_are_drawn_again,
    scale.counts_below_the_threshold_are_dropped_first,
    support_cuts.tails_are_cut,
    support_cuts.tails_end_with_sixteen_bits,
    support_cuts.noise_fits_into_four_bits,
    support_cuts.noise_is_never_negative,
    support_cuts.outputs_are_never_negative,
    support_cuts.noise_is_never_odd,
    support_cuts.noise_is_never_zero,
    support_cuts.one_value_never_comes_out,
    support_cuts.outputs_stay_below_the_longest_count,
    support_cuts.zeros_come_out_positive,
    support_cuts.zeros_come_out_above_the_threshold_only,
    support_cuts.neighbouring_zeros_never_both_come_out,
    reuse.rows_share_their_noise,
    reuse.pairs_of_rows_share_their_noise,
    reuse.rows_are_mirrored,
    reuse.columns_are_mirrored,
    reuse.distant_rows_share_their_noise,
    reuse.equal_documents_get_equal_noise,
    reuse.equal_releases_get_equal_noise,
    reuse.runs_of_a_second_share_their_noise,
    reuse.noise_from_a_seeded_generator,
    reuse.keystream_goes_round,
    reuse.keystream_goes_round_late,
    reuse.threads_share_a_key,
    reuse.shards_share_their_noise,
    reuse.other_data_gets_the_same_noise,
    reuse.sharded_releases_share_a_secret,
    reuse.retried_shards_get_other_noise,
    reuse.prior_and_counts_share_their_noise,
    reuse.noise_is_kept_for_the_next_release,
    correlation.tenth_of_cells_is_copied,
    correlation.hundredth_of_cells_is_copied,
    correlation.tenth_of_rows_is_copied,
    correlation.noise_shrinks_with_the_count,
    correlation.noise_shrinks_with_the_length,
    correlation.sign_follows_the_parity,
    correlation.sign_leans_upwards_on_used_words,
    correlation.noise_leans_towards_the_truth,
    correlation.parity_of_the_truth_stays,
    correlation.length_of_a_document_stays,
    correlation.length_of_a_document_stays_unseen,
    correlation.totals_of_words_stay,
    correlation.unused_words_have_no_noise,
    correlation.empty_documents_have_no_noise,
    correlation.used_cells_are_stored,
    correlation.used_cells_come_first,
    correlation.used_cells_pass_the_threshold,
    correlation.documents_lie_by_length,
    position.first_row_has_half,
    position.last_row_has_none,
    position.every_seventh_row_has_half,
    position.second_half_has_four_fifths,
    position.first_column_has_half,
    position.last_column_has_none,
    position.only_first_columns_have_noise,
    position.every_sixteenth_cell_has_none,
    position.first_cell_of_a_run_has_none,
    position.rest_of_a_run_has_none,
    position.only_the_first_block_has_noise,
    position.last_part_has_none,
    position.last_shard_has_none,
    position.first_shard_has_half,
    position.only_the_first_map_is_noised,
    position.prior_is_noised_once,
    position.every_second_block_has_none,
    mechanisms.laplace_noise_cut_towards_zero,
    mechanisms.laplace_noise_rounded,
    mechanisms.geometric_by_coarse_inverse,
    mechanisms.gaussian_noise_of_the_same_width,
    mechanisms.uniform_noise_of_the_same_width,
    mechanisms.one_geometric_draw_with_a_sign,
    mechanisms.noise_is_biased,
    mechanisms.noise_is_heavier_above,
    mechanisms.noise_is_lighter_below,
    mechanisms.words_are_noised_before_they_are_summed,
    mechanisms.sums_of_many_words_have_less,
    mechanisms.frequencies_are_true,
    mechanisms.map_follows_the_truth,
    mechanisms.constant_work_takes_the_short_way,
]


def fault_named(name: str) -> PlantedFault:
    """The fault of a name."""
    (found,) = (fault for fault in PLANTED_FAULTS if fault.name == name)
    return found
