"""Recompute the counting baselines in docs/reference/simulation.md and print them as Markdown."""

from statistics import mean, stdev

from sottovoce.corpus.simulate.parameters import DIFFICULTIES, SimulationParameters
from sottovoce.corpus.simulate.write import CountingBaselines, counting_baselines, simulate

USERS = 2000
SEEDS = range(5)
MEASURES = ("chance", "posts", "words", "salient_words")


def measured(level: str) -> list[CountingBaselines]:
    """Return the baselines of one difficulty level, one entry per seed."""
    communities = (
        SimulationParameters(
            users=USERS, seed=seed, difficulty=DIFFICULTIES[level], background_documents=1
        )
        for seed in SEEDS
    )
    return [counting_baselines(simulate(parameters)) for parameters in communities]


def table_row(level: str) -> str:
    """Return mean ± standard deviation over seeds, as one row."""
    rows = measured(level)
    values = [[getattr(row, measure) for row in rows] for measure in MEASURES]
    cells = [f"{mean(column):.3f} ± {stdev(column):.3f}" for column in values]
    return f"| {level} | {' | '.join(cells)} |"


if __name__ == "__main__":
    print("| level | chance | posts | words | salient words |")
    print("|---|---|---|---|---|")
    for name in DIFFICULTIES:
        print(table_row(name), flush=True)
