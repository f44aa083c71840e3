"""The bands by which timelines are judged are those that users are put into."""

import numpy as np
import pytest
from sottovoce_lab.assess.blogs._judges import judged_draws, orders_of, sample_orders

from sottovoce.assess.ranking import BANDS, band_numbers


@pytest.mark.kernel
@pytest.mark.parametrize("levels", [200, 60, 12], ids=["no ties", "ties", "large ties"])
def test_flagged_and_found_are_counted_as_bands_are_given(levels: int) -> None:
    rng = np.random.default_rng(levels)
    scores = (rng.permutation(200) // (200 // levels)).astype(np.float64)
    afflicted = rng.random(200) < 0.2
    orders = sample_orders(orders_of([{"m": scores}])["m"])
    found = judged_draws(orders, np.ones((1, 200)), afflicted)[0, 3:]
    bands = band_numbers(scores)
    expected = []
    for place in range(len(BANDS)):
        inside = bands <= place
        expected += [inside.sum(), (inside & afflicted).sum()]
    assert found.tolist() == expected
