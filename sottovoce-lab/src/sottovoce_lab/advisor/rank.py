"""The rank server on simulated people: errors, intervals, bands, audits and an averaging attack.

R-Susceptibility, sections 3.3 and 7, ask for an advisor whose users compute their scores locally;
the paper has no figure of it. Both modes are compared with what the noise's law predicts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.advisor.rank.description import Mode
from sottovoce.advisor.rank.noise import TRIALS, OneHotNoise, at_another_rate, audit_reports
from sottovoce.report.figures import COLOURS, legend_below, new_panels
from sottovoce.report.page import Plot
from sottovoce.report.result import Row, StudyResult, number
from sottovoce_lab.advisor._errors import opened_by_protocol, published, repeated
from sottovoce_lab.advisor._fits import OTHERS, SAME, fitted, fitted_rows
from sottovoce_lab.advisor._people import PERIODS, attacked, crowd, heard_over_periods, rules_for
from sottovoce_lab.bench.vdaf import vdaf_rows
from sottovoce_lab.options import StudyOptions

SHOWN = ("part", "case", "people", "epsilon", "outcome")
WIDE = ("error_points", "predicted_points", "coverage", "rank_coverage", "width_points")
_PLANTED = 1.05
FITS = 2
_MODES: tuple[Mode, ...] = ("noise", "shares")


@dataclass(frozen=True)
class RankStudySettings:
    """What to run; fewer people and repetitions for a quick look."""

    people: tuple[int, ...] = (1_000, 10_000, 100_000)
    epsilons: tuple[Fraction, ...] = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
    buckets: int = 20
    repetitions: int = 300
    fit_repetitions: int = 20
    attacked: int = 4_000
    costed: int = 1_000
    cost_seconds: float = 1.0
    trials: int = TRIALS


QUICK = RankStudySettings(people=(1_000, 10_000), repetitions=100, attacked=1_000, costed=200)


def run_advisor_rank(options: StudyOptions) -> StudyResult:
    """The study as the command line asks for it."""
    return run(QUICK if options.quick else RankStudySettings())


def run(settings: RankStudySettings) -> StudyResult:
    """All parts, one after the other."""
    measured = [
        _measured_row(settings, mode, people, epsilon)
        for mode in _MODES
        for people in settings.people
        for epsilon in settings.epsilons
    ]
    fitted = fitted_rows(
        max(settings.people), Fraction(1), settings.buckets, settings.fit_repetitions
    )
    rows: list[Row] = [
        *measured,
        *_protocol_rows(settings),
        *_cost_rows(settings),
        *fitted,
        *_attack_rows(settings),
        *_audit_rows(settings),
    ]
    names: Row = {name: None for row in rows for name in row}
    found = f"{_finding(measured)} {_fitted_finding(fitted)}"
    plot = Plot(_figure(measured, settings), found, _description(measured))
    return StudyResult(
        tuple(names | row | {"outcome": _outcome(row)} for row in rows),
        (plot,),
        SHOWN,
        _notes(rows),
        WIDE,
    )


def _measured_row(settings: RankStudySettings, mode: Mode, people: int, epsilon: Fraction) -> Row:
    rules = rules_for(mode, epsilon, settings.buckets)
    community = crowd(people, rules, seed=people)
    publish = published(community, rules)
    head: Row = {"part": mode, "case": "", "people": people, "epsilon": float(epsilon)}
    return head | repeated(community, rules, publish, settings.repetitions)


def _protocol_rows(settings: RankStudySettings) -> list[Row]:
    """Everybody reports by Prio3, and two servers verify and open: with even edges, and fitted."""
    people, rows = max(settings.people), []
    even = rules_for("shares", Fraction(1), settings.buckets)
    for case, rules in (("", even), (f", {FITS} fits", fitted(even, people, FITS))):
        community = crowd(people, rules, seed=people)
        head: Row = {
            "part": "shares",
            "case": f"whole protocol{case}",
            "people": people,
            "epsilon": 1.0,
        }
        rows.append(head | repeated(community, rules, opened_by_protocol(community, rules), 1))
    return rows


def _cost_rows(settings: RankStudySettings) -> list[Row]:
    """Bytes and processor time of a report in shares."""
    shard, verify, _, size = vdaf_rows(settings.costed, seconds=settings.cost_seconds)[:4]
    names = ("part", "case", "bytes", "shard_ms", "verify_ms")
    ours = ("report in shares", "Prio3Histogram", size["ours"], shard["ours"], verify["ours"])
    return [dict(zip(names, ours, strict=True))]


def _attack_rows(settings: RankStudySettings) -> list[Row]:
    rows = attacked(Fraction(1), settings.buckets, settings.attacked)
    different = heard_over_periods(rules_for("noise", Fraction(1), settings.buckets))
    heard: Row = {
        "case": f"different reports in {PERIODS} periods",
        "people": 1,
        "found": different,
    }
    head: Row = {"part": "attack", "epsilon": 1.0}
    return [head | row for row in (*rows, heard)]


def _audit_rows(settings: RankStudySettings) -> list[Row]:
    rows: list[Row] = []
    for epsilon in settings.epsilons:
        claimed = OneHotNoise(epsilon, settings.buckets)
        planted = at_another_rate(claimed, _PLANTED)
        for case, noise in (("as claimed", None), ("5% less noise than claimed", planted)):
            report = audit_reports(claimed, noise, trials=settings.trials)
            bounds = [finding.bound for finding in report.findings if finding.bound is not None]
            rows.append(
                {
                    "part": "audit",
                    "case": case,
                    "epsilon": float(epsilon),
                    "bound": max(bounds),
                    "holds": "yes" if report.holds else "no",
                }
            )
    return rows


def _percent(row: Row, name: str) -> str:
    return f"{100 * number(row, name):.1f}%"


def _outcome(row: Row) -> str:
    """A row in words."""
    if row["part"] == "audit":
        return f"epsilon >= {number(row, 'bound'):.3f}: {row['holds']}"
    if row["part"] == "report in shares":
        return (
            f"{number(row, 'bytes'):.0f} bytes, shard {number(row, 'shard_ms'):.3g} ms, "
            f"verify {number(row, 'verify_ms'):.3g} ms at each server"
        )
    if row["part"] == "attack":
        found = number(row, "found")
        return (
            f"bucket found {100 * found:.0f}%"
            if isinstance(row["found"], float)
            else f"{found:.0f}"
        )
    return (
        f"error {number(row, 'error_points'):.3g} points, "
        f"{number(row, 'error_over_predicted'):.2f} of predicted; "
        f"coverage {number(row, 'coverage'):.3f}, "
        f"width {number(row, 'width_points'):.1f} points; "
        f"band told {_percent(row, 'bands_told')}, right {_percent(row, 'bands_right')}, "
        f"the exact score's {_percent(row, 'bands_right_by_score')}"
    )


def _finding(rows: Sequence[Row]) -> str:
    ratios = [number(row, "error_over_predicted") for row in rows if row["part"] == "noise"]
    people = max(number(row, "people") for row in rows)
    most = [row for row in rows if row["people"] == people]
    noise, shares = ([row for row in most if row["part"] == part] for part in ("noise", "shares"))
    one = next(row for row in noise if row["epsilon"] == 1)
    right = min(number(row, "bands_right") for row in shares)
    return (
        f"Noise mode: the error is {min(ratios):.2f} to {max(ratios):.2f} of the predicted one. "
        f"With {people:,.0f} people at epsilon 1 it is {number(one, 'error_points'):.2f} points, "
        f"the interval for a rank is {number(one, 'width_points'):.1f} points wide, and "
        f"{100 * number(one, 'bands_told'):.0f}% of people can be told a band. Shares mode: the "
        f"band is right for at least {100 * right:.1f}% of people."
    )


def _fitted_finding(rows: Sequence[Row]) -> str:
    """Even buckets, and the last fit, in the mode of shares."""
    shares = [row for row in rows if row["part"] == "fitted edges, shares"]
    last = max(number(row, "fits") for row in shares)
    even, same, others = (
        next(_percent(row, "bands_right_by_score") for row in shares if row["case"] == case)
        for case in (f"0 fits, {SAME}", f"{last:.0f} fits, {SAME}", f"{last:.0f} fits, {OTHERS}")
    )
    return (
        f"It is the exact score's band for {even} with even buckets, and for {same} after "
        f"{last:.0f} fits of their edges to earlier histograms ({others} if they were of others)."
    )


def _description(rows: Sequence[Row]) -> str:
    return (
        "Two panels with logarithmic axes: error in percentage points over epsilon, and over the "
        f"number of people; dots are measured, lines predicted. {_finding(rows)}"
    )


def _notes(rows: Sequence[Row]) -> tuple[str, ...]:
    found = {str(row["case"]): row["found"] for row in rows if row["part"] == "attack"}
    attack = "; ".join(
        f"{case} {100 * share:.0f}%" for case, share in found.items() if isinstance(share, float)
    )
    return (
        (
            f"An attack that adds up one person's reports at epsilon 1 finds the bucket: {attack}. "
            "Kept reports gain nothing by repetition."
        ),
        (
            "Coverage is that of the 95% interval for the number of people in bucket k or higher, "
            "over all k. The interval for a rank spans the whole bucket: all in it count as tied."
        ),
        (
            "Bands are first compared with those of the buckets, then with the exact score's, "
            "which buckets cannot tell where a band's limit cuts one: fitted edges lie close to "
            "the limits."
        ),
    )


def _figure(rows: Sequence[Row], settings: RankStudySettings) -> Figure:
    figure, (over_epsilon, over_people) = new_panels(2, width=9.0, height=3.6, share_y=True)
    most = max(settings.people)
    for place, part in enumerate(_MODES):
        own = [row for row in rows if row["part"] == part]
        _line(over_epsilon, [row for row in own if row["people"] == most], "epsilon", part, place)
        _line(over_people, [row for row in own if row["epsilon"] == 1], "people", part, place)
    over_epsilon.set(title=f"{most:,} people", xlabel="epsilon", ylabel="error, percentage points")
    over_people.set(title="epsilon 1", xlabel="people")
    legend_below(figure, 4)
    return figure


def _line(axes: Axes, rows: Sequence[Row], over: str, part: str, place: int) -> None:
    at = [number(row, over) for row in rows]
    colour = COLOURS[place]
    axes.loglog(
        at,
        [number(row, "predicted_points") for row in rows],
        color=colour,
        label=f"{part}, predicted",
    )
    axes.loglog(
        at,
        [number(row, "error_points") for row in rows],
        "o",
        color=colour,
        label=f"{part}, measured",
    )
