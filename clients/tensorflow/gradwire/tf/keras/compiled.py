"""The losses and metrics of ``compile``: looked up with the first batch, by its outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import gradwire.tf as tf
from gradwire.tf.keras import losses, metrics
from gradwire.tf.keras.metrics.base import Metric

#: The place of an output among those of a model, None if it is the only tensor, and its name.
Output = tuple[Any, Any]


class CompiledLoss:
    """A loss for each output, or the same for all, and their sum, each times its weight.

    A loss is a name, a class or a function; ``crossentropy`` is one by the shapes. With several,
    ``metrics`` has the mean of each: of batches, as Keras's graphs do, which do not know how many
    examples these have, or of examples with ``run_eagerly``.
    """

    def __init__(
        self, loss: Any, loss_weights: Any, names: Sequence[str] | None, run_eagerly: bool
    ) -> None:
        self._eager = run_eagerly
        self._given = loss
        self._weights = loss_weights
        self._names = names
        self._found: list[tuple[Any, Any, Any, str]] | None = None
        self.metrics: list[Any] = []

    def __call__(self, y: Any, predicted: Any, sample_weight: Any = None) -> Any:
        """The loss of a batch, or None where no output has one."""
        y = _aligned(y, predicted, self._names, self._given)
        if self._found is None:
            self._build(y, predicted)
        total = None
        for index, (key, loss, weight, _) in enumerate(self._found or ()):
            true, said = _part(y, key), _part(predicted, key)
            own = _part(sample_weight, key) if tf.nest.is_nested(sample_weight) else sample_weight
            value = loss(true, said, own)
            if self.metrics:
                count = len(said) if self._eager else None
                self.metrics[index].update_state(value, sample_weight=count)
            value = value if weight is None else value * weight
            total = value if total is None else total + value
        return total

    def _build(self, y: Any, predicted: Any) -> None:
        outputs = _outputs(predicted, self._names)
        chosen = list(self._chosen(outputs, predicted))
        weights = self._weights_of(chosen)
        self._found = []
        for (key, name, given), weight in zip(chosen, weights, strict=True):
            if given is None:
                continue
            loss, own = _loss(given, _part(y, key), _part(predicted, key))
            self._found.append((key, loss, weight, own if name is None else name))
        if len(self._found) > 1:
            self.metrics = [metrics.Mean(name=f"{name}_loss") for *_, name in self._found]

    def _chosen(self, outputs: list[Output], predicted: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Outputs with their losses."""
        given, names = self._given, [name for _, name in outputs]
        if isinstance(given, dict):
            if not isinstance(predicted, dict) and set(given) != set(names):
                raise ValueError(
                    f"the keys of `loss` must be the outputs {self._names}; got {list(given)}"
                )
            keys = {name: key for key, name in outputs}
            for name, loss in given.items():
                if name not in keys:
                    raise KeyError(_missing((name,)))
                yield keys[name], name, loss
        elif isinstance(given, (list, tuple)):
            if not tf.nest.is_nested(predicted) and len(given) != 1:
                raise NotImplementedError(
                    f"Model.compile does not implement loss={given!r} for one output; one loss is "
                    "possible"
                )
            if len(given) > len(outputs):
                raise KeyError(_missing((len(outputs),)))
            for (key, name), loss in zip(outputs, given, strict=False):
                yield key, name, loss
        else:
            for key, name in outputs:
                yield key, name, given

    def _weights_of(self, chosen: list[tuple[Any, Any, Any]]) -> list[Any]:
        weights = self._weights
        if weights is None:
            return [None] * len(chosen)
        if isinstance(weights, dict):
            found = [weights.get(name) for _, name, _ in chosen]
            if set(weights) != {name for _, name, _ in chosen}:
                raise ValueError(_weights_text(len(chosen), weights))
            return found
        flat = list(weights) if isinstance(weights, (list, tuple)) else [weights]
        if len(flat) == 1 and not isinstance(self._given, (dict, list, tuple)):
            return flat * len(chosen)
        if len(flat) != len(chosen):
            raise ValueError(_weights_text(len(chosen), flat))
        return flat


class CompiledMetrics(Metric):
    """Metrics of each output, and those that weigh examples; ``accuracy`` is one by the shapes."""

    def __init__(self, plain: Any, weighted: Any, names: Sequence[str] | None) -> None:
        super().__init__(name="compile_metrics")
        self._given = {"metrics": plain, "weighted_metrics": weighted}
        self._names = names
        self._built = False
        #: For each output, where it is, its name, its metrics, and those that weigh.
        self._found: list[tuple[Any, Any, list[Any], list[Any]]] = []

    @property
    def metrics(self) -> list[Any]:
        """The metrics, or none before the first batch."""
        plain = [metric for each in self._found for metric in each[2]]
        return [*plain, *(metric for each in self._found for metric in each[3])]

    @property
    def variables(self) -> list[Any]:
        """The variables of all."""
        return [variable for metric in self.metrics for variable in metric.variables]

    @property
    def is_empty(self) -> bool:
        """True if ``compile`` was given none."""
        return not any(self._given.values())

    def reset_state(self) -> None:
        for metric in self.metrics:
            metric.reset_state()

    def update_state(self, y: Any, predicted: Any, sample_weight: Any = None) -> None:
        """Take a batch into account."""
        if self.is_empty:
            return
        y = _aligned(y, predicted, self._names, None)
        if not self._built:
            outputs = _outputs(predicted, self._names)
            several = tf.nest.is_nested(predicted)
            chosen = [
                self._chosen(what, outputs, predicted) for what in ("metrics", "weighted_metrics")
            ]
            self._found = [
                (
                    key,
                    name if several else None,
                    *([_metric(each, _part(y, key), _part(predicted, key)) for each in given]
                      for given in both),
                )
                for (key, name), *both in zip(outputs, *chosen, strict=True)
            ]  # fmt: skip
            self._built = True
        for key, _, plain, weighted in self._found:
            true, said = _part(y, key), _part(predicted, key)
            own = _part(sample_weight, key) if tf.nest.is_nested(sample_weight) else sample_weight
            for metric in plain:
                metric.update_state(true, said)
            for metric in weighted:
                metric.update_state(true, said, own)

    def result(self) -> dict[str, Any]:
        """Each figure by its name, with that of its output before it where there are several."""
        figures: dict[str, Any] = {}
        times: dict[str, int] = {}
        for place, first in ((2, ""), (3, "weighted_")):
            for each in self._found:
                prefix = "" if each[1] is None else f"{each[1]}_"
                for metric in each[place]:
                    name = f"{prefix}{metric.name}"
                    if name in times and first:
                        name = f"{prefix}{first}{metric.name}"
                    count = times.get(name, 0)
                    times[name] = count + 1
                    figures[f"{name}_{count}" if count else name] = metric.result()
        return figures

    def _chosen(self, what: str, outputs: list[Output], predicted: Any) -> list[list[Any]]:
        """The metrics of each output."""
        given = self._given[what]
        if not given:
            return [[] for _ in outputs]
        if not tf.nest.is_nested(predicted):
            return [tf.nest.flatten(given)]
        names = [name for _, name in outputs]
        if isinstance(given, dict) and set(given) <= set(names):
            return [_as_list(given.get(name)) for name in names]
        if isinstance(given, (list, tuple)) and len(given) == len(outputs):
            return [_as_list(each) for each in given]
        raise ValueError(
            f"`{what}` must be nested like the outputs, or name them ({names}); got {given}"
        )


def _outputs(predicted: Any, names: Sequence[str] | None) -> list[Output]:
    """The place and the name of each output; one tensor has no place."""
    if isinstance(predicted, dict):
        known = names is not None and set(names) == set(predicted)
        return [(key, key) for key in (names if known and names else sorted(predicted))]
    if not tf.nest.is_nested(predicted):
        return [(None, names[0] if names else None)]
    if any(tf.nest.is_nested(part) for part in predicted):
        raise NotImplementedError(
            "Model.compile does not implement outputs nested twice; return one list or one "
            "dictionary"
        )
    count = len(predicted)
    return [(i, names[i] if names and len(names) == count else None) for i in range(count)]


def _aligned(y: Any, predicted: Any, names: Sequence[str] | None, losses_given: Any) -> Any:
    """Targets nested as outputs are."""
    if not tf.nest.is_nested(predicted):
        if isinstance(y, dict):
            raise TypeError(f"one output is compared with one tensor, not a dictionary: {list(y)}")
        return y[0] if isinstance(y, (list, tuple)) and len(y) == 1 else y
    keys = [key for key, _ in _outputs(predicted, names)]
    if isinstance(y, dict):
        order = keys if isinstance(predicted, dict) else list(names or ())
        if set(order) <= set(y):
            return {key: y[name] for key, name in zip(keys, order, strict=True)}
    elif isinstance(y, (list, tuple)):
        if len(y) == len(keys):
            return dict(zip(sorted(keys), y, strict=True))
        given = list(losses_given) if isinstance(losses_given, (list, tuple)) else []
        wanted = [key for key, loss in zip(keys, given, strict=False) if loss is not None]
        if len(y) == len(wanted):  # targets of those outputs alone that have a loss
            return dict(zip(wanted, y, strict=True))
    elif len(keys) == 1:
        return {keys[0]: y}
    raise ValueError(
        f"`y` must be nested like the outputs: it is {tf.nest.map_structure(lambda _: '*', y)}, "
        f"and they are {tf.nest.map_structure(lambda _: '*', predicted)}"
    )


def _part(value: Any, key: Any) -> Any:
    return value if key is None or value is None else value[key]


def _loss(identifier: Any, y: Any, predicted: Any) -> tuple[Any, str]:
    """A loss, and the name that it has where its output has none."""
    name = identifier
    if str(identifier).lower() in ("crossentropy", "ce"):
        name = f"{_kind_of_classes(y, predicted)}_crossentropy"
    loss = losses.get(name)
    loss = loss if isinstance(loss, losses.Loss) else losses.LossFunctionWrapper(loss)
    return loss, identifier if isinstance(identifier, str) else loss.name


def _metric(identifier: Any, y: Any, predicted: Any) -> Any:
    if isinstance(identifier, losses.Loss):
        return metrics.MeanMetricWrapper(identifier, name=identifier.name)
    is_accuracy = str(identifier).lower() in ("accuracy", "acc")
    kind = f"{_kind_of_classes(y, predicted)}_accuracy" if is_accuracy else identifier
    metric = metrics.get(kind)
    metric = metric if isinstance(metric, Metric) else metrics.MeanMetricWrapper(metric)
    if isinstance(identifier, str):
        metric.name = identifier
    return metric


def _kind_of_classes(y: Any, predicted: Any) -> str:
    true, said = tuple(y.shape), tuple(predicted.shape)
    if said[-1] == 1:
        return "binary"
    sparse = len(true) < len(said) or (true[-1] == 1 and said[-1] > 1)
    return "sparse_categorical" if sparse else "categorical"


def _as_list(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _missing(path: tuple[Any, ...]) -> str:
    return f"`loss` has an entry for the output {path}, which the model lacks"


def _weights_text(count: int, weights: Any) -> str:
    return f"`loss_weights` has {len(weights)} entries for {count} losses"
