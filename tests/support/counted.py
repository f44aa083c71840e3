"""A count together without parties: the demo's, by hand."""

from fractions import Fraction

import numpy as np

from sottovoce.demo._learn import CountDemo
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.recipe import CountRecipe


def counted_by_hand() -> CountDemo:
    """Two words by two labels; the last column counts the people."""
    peers = ("ada", "ben", "cy", "dee")
    counted = TogetherCounts(
        ("clean", "debt"),
        ("concerned", "not concerned"),
        np.array([30, 25, 52, 40, -3, 47]),
        CountRecipe("words", 4, Fraction(1)),
        peers,
        peers,
    )
    learns = [{"who": "every peer", "what": "the sum"}]
    leakage = {"learns": learns, "against": [], "together": "no more"}
    truth = {"not concerned": 51, "concerned": 49}
    return CountDemo(counted, {"seconds": 0.5, "leakage": leakage}, truth)
