"""Functions of a request that take the request's own keywords."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

Keywords = ParamSpec("Keywords")
Request = TypeVar("Request")
Result = TypeVar("Result")


def take_keywords(
    request: Callable[Keywords, Request],
) -> Callable[[Callable[[Request], Result]], Callable[Keywords, Result]]:
    """Let a function of a request take the request's own keywords."""

    def decorate(act: Callable[[Request], Result]) -> Callable[Keywords, Result]:
        @wraps(act)
        def call(*given: Keywords.args, **options: Keywords.kwargs) -> Result:
            return act(request(*given, **options))

        call.__signature__ = signature(request)  # type: ignore[attr-defined] # functions take it
        return call

    return decorate
