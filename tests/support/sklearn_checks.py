"""Scikit-learn's own checks, for estimators that take word counts."""

from collections.abc import Mapping
from typing import Any

import pytest
from sklearn.utils.estimator_checks import check_estimator


def check_on_counts(
    estimator: Any,  # noqa: ANN401 - scikit-learn has no types
    patch: pytest.MonkeyPatch,
    not_meant: Mapping[str, str] | None = None,
) -> None:
    """Run all checks on whole numbers, but for those that are ``not_meant``, each with its reason.

    Scikit-learn rounds the data of its checks for categories, and fractions are no counts.
    """
    tags_of = type(estimator).__sklearn_tags__

    def rounded(self: Any) -> Any:  # noqa: ANN401 - scikit-learn has no types
        tags = tags_of(self)
        tags.input_tags.categorical = True
        if tags.classifier_tags is not None:
            tags.classifier_tags.poor_score = True  # its clouds around points are no word counts
        return tags

    patch.setattr(type(estimator), "__sklearn_tags__", rounded)
    reports = check_estimator(estimator, on_skip=None, expected_failed_checks=not_meant)
    assert len(reports) > 30
