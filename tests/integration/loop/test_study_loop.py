"""The study of the loop, with communities and models of a moment."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sottovoce_lab import communities
from sottovoce_lab.communities import draw_community
from support.demos import QUICK, count_few_words, learn_no_classifiers

from sottovoce.loop.loop import LoopPlan, run_loop
from sottovoce.loop.subject import simulated_subject

Run = Callable[..., tuple[int, str, str]]


def test_it_draws_its_communities_and_runs_the_loop_on_each(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds: list[int] = []

    def small(difficulty: Any, seed: int, **_sizes: int) -> Any:  # noqa: ANN401 - of the loop
        seeds.append(seed)
        return draw_community(difficulty, seed, users=120, weeks=2, background=200)

    monkeypatch.setattr(communities, "draw_community", small)
    monkeypatch.setattr(
        communities, "simulated_subject", lambda community, _: simulated_subject(community, QUICK)
    )

    def brief(subjects: Any, plan: LoopPlan) -> Any:  # noqa: ANN401 - of the loop
        effort = replace(plan.effort, topics=5, iterations=5)
        few = (("none", None), ("frequency", 60))
        return run_loop(subjects, replace(plan, effort=effort, methods=few))

    monkeypatch.setattr(communities, "run_loop", brief)
    count_few_words(monkeypatch, 120)
    learn_no_classifiers(monkeypatch)
    code, out, err = run("study", "loop", "--quick", "--seeds", 2)
    assert code == 0, err
    assert len(set(seeds)) == 2
    assert "epsilon" in out
