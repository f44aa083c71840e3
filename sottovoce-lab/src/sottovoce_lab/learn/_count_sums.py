"""Opened sums for `study learn-count`: the votes and shares of noise of the product, seeded.

A study hides nobody, so that its keys and noise come from seeds. Beside each sum stands what a
local release gives at the same epsilon for the same unit: every document adds whole noise to its
own votes, and sums of D documents have the noise of D draws instead of n/h.
"""

import hashlib
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sottovoce.arrays import Integers
from sottovoce.learn.count import TogetherCounts
from sottovoce.learn.count.recipe import CountRecipe, What
from sottovoce.learn.count.votes import VotePlan
from sottovoce.learn.documents import Documents
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.privacy.noise_share import NoiseShare
from sottovoce.release.audit import FixedKeystream

PARTIES, DROP, COLLUDE = 4, 0, 1


@dataclass(frozen=True)
class CountSetting:
    """One count of the study, all but its documents."""

    what: What
    votes: int
    epsilon: Fraction
    parties: int = PARTIES
    drop: int = DROP
    collude: int = COLLUDE

    @property
    def recipe(self) -> CountRecipe:
        """As the parties would agree on it; the study's words are declared."""
        return CountRecipe(
            self.what, self.votes, self.epsilon, self.drop, self.collude, declared=True
        )

    @property
    def peers(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(f"peer-{at}" for at in range(self.parties))

    @property
    def parameters(self) -> dict[str, str | int]:
        """What tells parts of one count from those of another."""
        return {
            "votes": self.votes,
            "epsilon": str(self.epsilon),
            "parties": self.parties,
            "drop": self.drop,
            "collude": self.collude,
        }

    @property
    def law(self) -> NoiseLaw:
        """Of whole noise in one cell."""
        return NoiseLaw(float(self.epsilon / self.votes))


def dealt(documents: Documents, parties: int) -> list[Documents]:
    """Document i is peer i modulo ``parties``'s."""
    places = np.arange(len(documents)) % parties
    return [documents.part(places == at) for at in range(parties)]


def voted(plan: VotePlan, documents: Documents, parties: int, seed: int) -> Integers:
    """The sum of all peers' votes, without noise."""
    parts = dealt(documents, parties)
    sums = [plan.summed(_bytes("key", seed, at), part) for at, part in enumerate(parts)]
    return np.asarray(np.sum(sums, axis=0))


def opened(cells: Integers, plan: VotePlan, setting: CountSetting, seed: int) -> TogetherCounts:
    """What the parties would open: ``cells`` and a share of noise from each of them."""
    recipe = setting.recipe
    recipe.check_parties(setting.parties)
    share = NoiseShare(
        epsilon=recipe.epsilon, norm=recipe.votes, among=recipe.honest(setting.parties)
    )
    total = cells.copy()
    for at in range(setting.parties):
        drawn = _bytes("noise", seed, at, str(setting.epsilon), cells.size)
        total += share.draw(cells.size, FixedKeystream(int.from_bytes(drawn, "big")))
    return TogetherCounts(plan.words, plan.labels, total, recipe, setting.peers, setting.peers)


def locally_released(
    cells: Integers, setting: CountSetting, documents: int, seed: int
) -> tuple[Integers, float]:
    """The sum of ``documents`` local releases of votes, and the variance of its noise.

    Every document adds two-sided geometric noise of rate epsilon/S to all of its cells; the sum of
    D of them is a difference of two negative binomial numbers of shape D.
    """
    chance = np.random.default_rng(list(_bytes("local", seed, str(setting.epsilon))))
    end = -np.expm1(-setting.law.rate)
    more, less = (chance.negative_binomial(documents, end, cells.size) for _ in range(2))
    return cells + more - less, documents * setting.law.variance


def _bytes(*parts: object) -> bytes:
    return hashlib.sha256(repr(parts).encode()).digest()
