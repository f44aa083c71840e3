"""The privacy statement of a rank server, from the description that it publishes."""

from sottovoce.advisor.rank.description import Description
from sottovoce.privacy.exact import text_up
from sottovoce.report.statement import FILL_IN, QUESTIONS, PrivacyStatement

_RUN_BY = f"{FILL_IN}who runs the server, under whose law, and how reports travel (TLS)."
_PAIR_RUN_BY = f"{FILL_IN}who runs each server, under whose law, and why they will not collude."
_UNIT = "The bucket of one person's score in one topic; {}. That they take part is not hidden. "
_MEANING = (
    "Whatever {} is at most e^{} times likelier from one bucket of a person's than from any other."
)
_ACCURACY = (
    "Ranks come with intervals that cover the true one in most cases if nobody lies, and no band "
    "is told where noise leaves another. Ranks are among those who report, not among all: who does "
    "not trust the server is missing. The score itself may be wrong about a "
    f"person. {FILL_IN}whom the measure was tried on, and whom it fits badly."
)
_COLLECTION = (
    "Of a report: a topic, a period, a random number and the noised bucket, or shares of it; no "
    "name, address or time, and requests are not logged. Reports are deleted when their period is "
    "published. Scores are computed on the person's own machine. {} people must report before "
    f"anything is published. {FILL_IN}who was invited to report, and what tokens, if any, tell."
)


def rank_statement(rules: Description) -> PrivacyStatement:
    """What a server with these rules promises to whoever reports."""
    parts = _noise(rules) if rules.mode == "noise" else _shares(rules)
    shared = {
        "accuracy": _ACCURACY,
        "collection": _COLLECTION.format(rules.minimum),
    }
    told = parts | shared
    return PrivacyStatement(
        f"rank server, mode {rules.mode}, of {', '.join(rules.by_name)}",
        {name: told[name] for name in QUESTIONS},
    )


def _noise(rules: Description) -> dict[str, str]:
    epsilon = text_up(rules.epsilon)
    return {
        "unit": _UNIT.format("each bucket that they were ever in is one"),
        "epsilon": f"epsilon = {epsilon} for each new bucket of each topic; the same bucket again "
        "is the same report and costs nothing. There is no delta.",
        "meaning": _MEANING.format("the server receives", epsilon),
        "model": "The local model: noise is on a report before it leaves the person's machine. The "
        "server need not be trusted with anybody's bucket.",
        "threats": "Against the server itself, also if it keeps every report for ever, and against "
        "everybody who reads what it publishes.",
        "mechanism": "The bucket as a vector with a single one, two-sided geometric noise on every "
        "entry at half of epsilon, clamped to one bit, and a fixed number of ones (subset "
        "selection). It is drawn exactly and once for each bucket, and kept: drawn again each "
        "period, it would average out.",
        "composition": "Distinct buckets, topics and servers add up. The person's own ledger "
        "counts them, and sends nothing beyond their budget.",
        "security": f"Reports hide by their own noise, wherever they are kept. {_RUN_BY}",
        "not_protected": "- that somebody reports, when, from where, and on which topics;\n"
        "- that a bucket changed, and when it came back: a kept report is nearly unique;\n"
        "- the histogram against lies: any set of as many buckets is a valid report, and a false "
        "one may count as many people.",
    }


def _shares(rules: Description) -> dict[str, str]:
    epsilon = text_up(rules.epsilon)
    return {
        "unit": _UNIT.format("each period is one"),
        "epsilon": f"epsilon = {epsilon} for each topic and period of {rules.period_s} seconds. "
        "There is no delta.",
        "meaning": _MEANING.format("either server, or a reader, sees", epsilon),
        "model": "A central sum without a curator: a report is two shares, each uniform by itself, "
        "for two servers. It must be trusted that the two do not collude; neither has to be "
        "trusted by itself.",
        "threats": "Against either server, also if it does not keep to the protocol, and against "
        "everybody who reads what is published. Against both together nothing is promised.",
        "mechanism": "Prio3Histogram: the servers verify together that a report is of a single "
        "bucket, and open one sum for each topic and period, with two-sided geometric noise of "
        "each server's own at half of epsilon. It is drawn exactly.",
        "composition": "Periods, topics and pairs of servers add up. The person's own ledger "
        "counts them, and sends nothing beyond their budget. A store that was put back from a "
        "copy, and not started as restored, may open a sum again, which nobody has paid for.",
        "security": "Each server's store holds shares, which tell a bucket only together with the "
        f"other's. {_PAIR_RUN_BY}",
        "not_protected": "- that somebody reports, when, from where, and on which topics;\n"
        "- how many reports there were, once the least number is reached;\n"
        "- the histogram against lies: of a person about their own bucket, or of a server about "
        "the sum.",
    }
