"""Models: layers in a row, graphs of symbolic inputs, and subclasses; with ``fit``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import gradwire.tf as tf
from gradwire.tf.keras import losses as losses_module
from gradwire.tf.keras import metrics as metrics_module
from gradwire.tf.keras import optimizers as optimizers_module
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.core import InputLayer
from gradwire.tf.keras.seeds import generator
from gradwire.tf.keras.symbolic import KerasTensor, symbolic_parts, values


class History:
    """What ``fit`` returns: ``history`` has the mean of each figure in each epoch."""

    def __init__(self) -> None:
        self.history: dict[str, list[float]] = {}
        self.epoch: list[int] = []

    def add(self, epoch: int, figures: dict[str, float]) -> None:
        """Note an epoch's figures."""
        self.epoch.append(epoch)
        for name, value in figures.items():
            self.history.setdefault(name, []).append(value)


class Model(Layer):
    """A layer that can be trained: a subclass with a ``call``, or ``Model(inputs, outputs)``."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """``Model(inputs, outputs)`` is a ``Functional``."""
        symbolic = bool(args and symbolic_parts(args)) or "inputs" in kwargs
        return object.__new__(Functional if cls is Model and symbolic else cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.optimizer: Any = None
        self.loss: Any = None
        self._metrics: list[Any] = []
        self._loss_so_far: Any = metrics_module.Mean(name="loss")

    @property
    def layers(self) -> list[Any]:
        """The layers of the model, in order."""
        return list(self._tracked)

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """A layer by its name or by its place."""
        if index is not None:
            return self.layers[index]
        found = [layer for layer in self.layers if layer.name == name]
        if not found:
            raise ValueError(
                f"No such layer: {name}. Existing layers are: "
                f"{[layer.name for layer in self.layers]}."
            )
        return found[0]

    def summary(self, **_: Any) -> None:
        """Print layers and their numbers of weights."""
        lines = [f'Model: "{self.name}"']
        lines += [
            f"  {layer.name} ({type(layer).__name__}): {layer.count_params():,}"
            for layer in self.layers
        ]
        print("\n".join([*lines, f"  Total params: {self.count_params():,}"]))  # noqa: T201

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Sequence[Any] | None = None,
        **_: Any,
    ) -> None:
        """Say what ``fit`` minimises, how, and what it tells."""
        self.optimizer = optimizers_module.get(optimizer)
        self.loss = losses_module.get(loss) if loss is not None else None
        object.__setattr__(self, "_metrics", [metrics_module.get(each) for each in metrics or ()])
        self._loss_so_far = metrics_module.Mean(name="loss")

    @property
    def metrics(self) -> list[Any]:
        """The mean of the loss, and the metrics that ``compile`` was given."""
        return [self._loss_so_far, *self._metrics]

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None
    ) -> Any:
        """The loss of a batch, with what layers add to it."""
        return self._loss(y, y_pred)

    def train_step(self, data: Any) -> dict[str, Any]:
        """One step of ``fit``: a subclass may have its own, and returns what is to be told."""
        x, y = data if isinstance(data, tuple) else (data, None)
        return dict(self._train_on(x, y))

    def test_step(self, data: Any) -> dict[str, Any]:
        """One step of ``evaluate``: a subclass may have its own."""
        x, y = data if isinstance(data, tuple) else (data, None)
        return dict(self._test_on(x, y))

    def train_on_batch(self, x: Any, y: Any = None, *, return_dict: bool = False) -> Any:
        """One step of the optimizer; the loss and the metrics before it."""
        return _told(self._train_on(x, y) | self._so_far(), return_dict)

    def test_on_batch(self, x: Any, y: Any = None, *, return_dict: bool = False) -> Any:
        """The loss and the metrics of a batch."""
        return _told(self._test_on(x, y) | self._so_far(), return_dict)

    def _train_on(self, x: Any, y: Any) -> dict[str, float]:
        with tf.GradientTape() as tape:
            predicted = self(x, training=True)
            loss = self._loss(y, predicted)
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return self._figures(loss, y, predicted)

    def _test_on(self, x: Any, y: Any) -> dict[str, float]:
        predicted = self(x, training=False)
        return self._figures(self._loss(y, predicted), y, predicted)

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        validation_data: Any = None,
        shuffle: bool = True,
        callbacks: Any = None,
        **others: Any,
    ) -> History:
        """Train for some epochs."""
        if self.optimizer is None:
            raise ValueError("You must call `compile()` before using the model.")
        history = History()
        for epoch in range(epochs):
            batches = _batches(x, y, batch_size, shuffle)
            if type(self).train_step is not Model.train_step:
                figures = self._own_epoch(batches, self.train_step)
            else:
                figures = self._epoch(batches, self._train_on)
            if validation_data is not None:
                rows, targets, *_ = validation_data
                seen = self._epoch(_batches(rows, targets, batch_size, False), self._test_on)
                figures |= {f"val_{name}": value for name, value in seen.items()}
            history.add(epoch, figures)
            if verbose not in (0, "auto"):
                told = " - ".join(f"{name}: {value:.4f}" for name, value in figures.items())
                print(f"Epoch {epoch + 1}/{epochs} - {told}")  # noqa: T201
        return history

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        return_dict: bool = False,
        **_: Any,
    ) -> Any:
        """The loss and the metrics of data."""
        batches = _batches(x, y, batch_size, False)
        if type(self).test_step is not Model.test_step:
            figures = self._own_epoch(batches, self.test_step)
        else:
            figures = self._epoch(batches, self._test_on)
        return _told(figures, return_dict)

    def predict(
        self, x: Any, batch_size: int | None = None, verbose: Any = "auto", **_: Any
    ) -> Any:
        """The outputs for data, as an array."""
        found = [self(rows).numpy() for rows, _ in _batches(x, None, batch_size, False)]
        return np.concatenate(found, axis=0)

    def _loss(self, y: Any, predicted: Any) -> Any:
        penalties = self.losses
        loss = None if self.loss is None else self.loss(y, predicted)
        for penalty in penalties:
            loss = penalty if loss is None else loss + penalty
        if loss is None:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        return loss

    def _figures(self, loss: Any, y: Any, predicted: Any) -> dict[str, float]:
        for metric in self._metrics:
            metric.update_state(y, predicted)
        return {"loss": float(loss.numpy())}

    def _epoch(self, batches: Iterator[tuple[Any, Any]], step: Any) -> dict[str, float]:
        for metric in self._metrics:
            metric.reset_state()
        total, count = 0.0, 0
        for x, y in batches:
            rows = len(_first(x))
            total += step(x, y)["loss"] * rows
            count += rows
        return {"loss": total / max(count, 1)} | self._so_far()

    def _so_far(self) -> dict[str, float]:
        return {metric.name: float(metric.result().numpy()) for metric in self._metrics}

    def _own_epoch(self, batches: Iterator[tuple[Any, Any]], step: Any) -> dict[str, float]:
        """What a step of a subclass told last."""
        for metric in self.metrics:
            metric.reset_state()
        told: dict[str, Any] = {}
        for x, y in batches:
            told = step(x if y is None else (x, y))
        return {name: float(value) for name, value in told.items()}


class Functional(Model):
    """A model of what is computed between symbolic inputs and outputs."""

    def __init__(self, inputs: Any, outputs: Any, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.inputs: list[KerasTensor] = symbolic_parts(inputs)
        self._nest = inputs
        self._outputs = outputs
        for layer in _layers_between(outputs):
            if not any(layer is known for known in self._tracked):
                self._tracked.append(layer)
        object.__setattr__(self, "built", True)

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        if isinstance(inputs, dict) and not isinstance(self._nest, dict):
            given = [inputs[part.kwargs.get("name")] for part in self.inputs]
        elif isinstance(inputs, dict):
            given = [inputs[key] for key in self._nest]
        else:
            given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        known = {id(part): value for part, value in zip(self.inputs, given, strict=True)}
        return values(self._outputs, known)


class Sequential(Model):
    """Layers, each of which takes what the one before gives."""

    def __init__(
        self, layers: Sequence[Any] | None = None, trainable: bool = True, name: str | None = None
    ) -> None:
        super().__init__(trainable=trainable, name=name)
        for layer in layers or ():
            self.add(layer)

    @property
    def layers(self) -> list[Any]:
        """The layers, but for the input's."""
        return [layer for layer in self._tracked if not isinstance(layer, InputLayer)]

    def add(self, layer: Any) -> None:
        """Append a layer."""
        if isinstance(layer, KerasTensor):
            layer = InputLayer(shape=layer.shape[1:])
        if not isinstance(layer, Layer):
            raise ValueError(
                "Only instances of `keras.Layer` can be added to a Sequential model. "
                f"Received: {layer} (of type {type(layer)})"
            )
        self._tracked.append(layer)
        first = self._tracked[0]
        if isinstance(first, InputLayer):
            self(tf.zeros((1, *(length or 1 for length in first.batch_shape[1:]))))

    def pop(self) -> Any:
        """Take the last layer away."""
        return self._tracked.pop()

    def build(self, input_shape: Any) -> None:
        if not self.built and input_shape is not None:
            object.__setattr__(self, "built", True)
            self.call(tf.zeros([length or 1 for length in input_shape], self._dtype))

    def call(self, inputs: Any, training: bool = False) -> Any:
        for layer in self._tracked:
            inputs = layer(inputs, training=training)
        return inputs


def _told(figures: dict[str, float], by_name: bool) -> Any:
    if by_name:
        return figures
    return figures["loss"] if len(figures) == 1 else list(figures.values())


def _layers_between(outputs: Any) -> list[Any]:
    found: list[Any] = []
    seen: set[int] = set()

    def visit(value: Any) -> None:
        for part in symbolic_parts(value):
            if id(part) in seen:
                continue
            seen.add(id(part))
            visit((part.args, part.kwargs if part.layer is not None else {}))
            if isinstance(part.layer, Layer) and not any(part.layer is known for known in found):
                found.append(part.layer)

    visit(outputs)
    return found


def _batches(x: Any, y: Any, batch_size: int | None, shuffle: bool) -> Iterator[tuple[Any, Any]]:
    if y is None and not hasattr(x, "shape") and hasattr(x, "__iter__"):
        for batch in x:
            yield (batch[0], batch[1]) if isinstance(batch, tuple) else (batch, None)
        return
    rows, targets = _array(x), None if y is None else _array(y)
    count, size = len(rows), batch_size or 32
    order = generator().permutation(count) if shuffle else np.arange(count)
    for start in range(0, count, size):
        chosen = order[start : start + size]
        yield rows[chosen], None if targets is None else targets[chosen]


def _array(value: Any) -> Any:
    array = value.numpy() if hasattr(value, "numpy") else np.asarray(value)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _first(x: Any) -> Any:
    return x[0] if isinstance(x, (list, tuple)) else x
