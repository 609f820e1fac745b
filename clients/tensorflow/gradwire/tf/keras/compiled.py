"""The loss and the metrics of ``compile``: looked up with the first batch, by its shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradwire.tf.arguments import only
from gradwire.tf.keras import losses, metrics


class CompiledLoss:
    """A loss by its name, its class or a function; ``crossentropy`` is one by the shapes."""

    def __init__(self, loss: Any, loss_weights: Any = None) -> None:
        if isinstance(loss, (list, tuple, dict)):
            raise NotImplementedError(
                f"Model.compile does not implement loss={loss!r}; one loss of one output is "
                "possible"
            )
        only("Model.compile", loss_weights=(loss_weights, None))
        self._given = loss
        self._found: Any = None

    def __call__(self, y: Any, predicted: Any, sample_weight: Any = None) -> Any:
        """The loss of a batch."""
        if self._found is None:
            name = self._given
            if str(name).lower() in ("crossentropy", "ce"):
                name = f"{_kind_of_classes(y, predicted)}_crossentropy"
            self._found = losses.get(name)
        return self._found(y, predicted, sample_weight)


class CompiledMetrics:
    """Metrics, and those that weigh examples; ``accuracy`` is one by the shapes."""

    def __init__(self, plain: Any, weighted: Any) -> None:
        self._given = (_as_list(plain), _as_list(weighted))
        self._found: tuple[list[Any], list[Any]] | None = None

    @property
    def found(self) -> list[Any]:
        """The metrics, or none before the first batch."""
        return [] if self._found is None else [*self._found[0], *self._found[1]]

    def update_state(self, y: Any, predicted: Any, sample_weight: Any = None) -> None:
        """Take a batch into account."""
        if self._found is None:
            plain, weighted = (
                [_metric(each, y, predicted) for each in names] for names in self._given
            )
            self._found = plain, weighted
        for metric in self._found[0]:
            metric.update_state(y, predicted)
        for metric in self._found[1]:
            metric.update_state(y, predicted, sample_weight)


def _metric(identifier: Any, y: Any, predicted: Any) -> Any:
    if str(identifier).lower() not in ("accuracy", "acc"):
        return metrics.get(identifier)
    metric = metrics.get(f"{_kind_of_classes(y, predicted)}_accuracy")
    metric.name = str(identifier)
    return metric


def _kind_of_classes(y: Any, predicted: Any) -> str:
    true, said = tuple(y.shape), tuple(predicted.shape)
    if said[-1] == 1:
        return "binary"
    sparse = len(true) < len(said) or (true[-1] == 1 and said[-1] > 1)
    return "sparse_categorical" if sparse else "categorical"


def _as_list(given: Any) -> list[Any]:
    nested = isinstance(given, dict) or (
        isinstance(given, Sequence) and any(isinstance(each, (list, dict)) for each in given)
    )
    if nested:
        raise NotImplementedError(
            f"Model.compile does not implement metrics={given!r}; a list of metrics of one output "
            "is possible"
        )
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]
