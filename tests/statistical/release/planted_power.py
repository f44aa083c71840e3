"""How often each planted fault is caught; run as a script with the number of draws of each.

`--sound N` plants nothing instead: how often the audits are alarmed for nothing in N draws.

The folder is one of 500 made-up documents, released in the way that the fault shows on.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from fractions import Fraction
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
from scipy import sparse
from sottovoce_spark.trial import drawn_in_shards
from support.faults.bending import PlantedFault
from support.planted_faults import PLANTED_FAULTS
from support.unlike_counts import WAYS, Way, true_columns

from sottovoce.privacy.audit._reuse import audit_repeats
from sottovoce.privacy.audit.findings import Finding, Known
from sottovoce.privacy.audit.law import audit_law, audit_together, fill_dropped
from sottovoce.privacy.audit.lines import Published, audit_lines
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release import trial
from sottovoce.release.audit import audit_presence
from sottovoce.release.compression.frequency import PAID_PRIORS
from sottovoce.release.counts import Counts
from sottovoce.release.plan import Released

DOCUMENTS, WORDS, RATE = 500, 200, Fraction(1, 2)


def sampler_fails() -> str:
    """The first check of `audit --sampler` that fails, on the function that publishes."""
    return first_failure(sampler_findings())


def sampler_findings() -> Iterator[Finding]:
    """What `audit_whole_way` finds and whether a keystream repeats, one after the other."""
    ways = trial.list_ways(RATE, None, {"in shards": drawn_in_shards})
    plain, parts, known = ways["as released"].settings, len(ways) + len(PAID_PRIORS) + 1, []
    for draw in (
        *(partial(trial.draw_noise, way) for way in ways.values()),
        *(partial(trial.frequency_noise, plain, kind) for kind in PAID_PRIORS),
    ):
        known.append(draw())
        yield from audit_law(known[-1], parts)
    yield from audit_together([each for each in known if each.rate == RATE], parts)
    yield audit_repeats(RATE, partial(GeometricMechanism(RATE).noise, threads=1))


def folder_fails(way: Way, counts: Counts, released: Released) -> tuple[str, str]:
    """The first checks that fail on one release: with its texts, and without."""
    truth, plan = true_columns(counts, released), way.plan(counts.shape[1])
    rate, threshold = plan.noise_rate, plan.settings.threshold
    noise = fill_dropped(released.counts.toarray(), truth, rate, threshold)
    words = counts.toarray()
    known = Known(noise, truth, rate, words, np.zeros(len(words), np.int64))
    published = sparse.csr_array(released.counts)
    presence = audit_presence(published, rate, threshold).findings
    lines = audit_lines(Published(published, rate, threshold))
    return first_failure(audit_law(known)), first_failure([*presence, *lines])


def first_failure(findings: Iterable[Finding]) -> str:
    """The name of a check that fails, or nothing."""
    return next((each.name for each in findings if not each.holds), "")


def documents(seed: int) -> Counts:
    """Documents of 0 to some hundred words, frequent and rare; each twentieth is there twice."""
    chance = np.random.default_rng(seed)
    frequent = 1 / np.arange(1, WORDS + 1)
    lengths = chance.lognormal(3, 1, DOCUMENTS) * (chance.random(DOCUMENTS) < 0.95)
    counts = chance.poisson(np.outer(lengths, frequent / frequent.sum()))
    counts[1::20] = counts[::20]
    return sparse.csr_array(counts.astype(np.int64))


def caught(fault: PlantedFault | None, way: Way, draws: int) -> list[tuple[str, str, str]]:
    """What failed in each draw: the sampler, a folder with its texts, and without."""
    found = []
    for seed in range(draws):
        counts = documents(seed)
        with fault.planted() if fault else nullcontext():
            sampler, released = sampler_fails(), way.publish(counts)
        found.append((sampler, *folder_fails(way, counts, released)))
    return found


def main() -> None:
    """Print a row of Markdown for each fault, as it is done."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--draws", type=int, default=3)
    asked.add_argument("--sound", type=int, default=0)
    asked.add_argument("--fault", action="append")
    given = asked.parse_args()
    rows: list[tuple[str, str, PlantedFault | None, Way, int]] = [
        (each.name, each.severity, each, WAYS[each.way], given.draws)
        for each in PLANTED_FAULTS
        if not given.fault or each.name in given.fault
    ]
    if given.sound:
        names = list(WAYS)
        share = -(-given.sound // len(names))
        rows = [(f"none, {name}", "sound", None, WAYS[name], share) for name in names]
    sys.stdout.write(
        "| fault | severity | sampler | with texts | without |\n|---|---|---|---|---|\n"
    )
    for name, severity, fault, way, draws in rows:
        columns = list(zip(*caught(fault, way, draws), strict=True))
        told = " | ".join(f"{sum(map(bool, each))} of {draws}" for each in columns)
        first = " ".join(next(filter(None, each), "-") for each in columns)
        sys.stdout.write(f"| {name} | {severity} | {told} |\n")
        sys.stderr.write(f"{name}: {first}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
