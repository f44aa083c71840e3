"""One classifier across several holders of private text: state machines without I/O."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.learn.protocols import TrainedClassifier, train
    from sottovoce.learn.text_classifier import FederatedTextClassifier

__all__ = ["FederatedTextClassifier", "TrainedClassifier", "train"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whichever is asked for
    """The notebook's names, loaded when asked for: parts of the package need no extra."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sottovoce.learn import protocols  # noqa: PLC0415 - see above

    if name == "FederatedTextClassifier":
        from sottovoce.learn import text_classifier  # noqa: PLC0415 - it needs scikit-learn

        return text_classifier.FederatedTextClassifier
    return getattr(protocols, name)
