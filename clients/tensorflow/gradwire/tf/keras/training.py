"""``compile``, ``fit``, ``evaluate`` and ``predict``: training in batches and epochs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras import callbacks as callbacks_module
from gradwire.tf.keras import metrics as metrics_module
from gradwire.tf.keras import optimizers as optimizers_module
from gradwire.tf.keras.batches import (
    Batches,
    as_arrays,
    first_array,
    mapped,
    packed,
    split,
    unpacked,
    weights_by_class,
)
from gradwire.tf.keras.compiled import CompiledLoss, CompiledMetrics
from gradwire.tf.keras.counting import counting
from gradwire.tf.keras.figures import flat, joined, plain
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.objects import deserialize_keras_object, serialize_keras_object
from gradwire.tf.seeds import SEEDS, Draws


class Trainer(Layer):
    """A layer that can be trained: the base of models."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.optimizer: Any = None
        self.loss: Any = None
        self.history: Any = None
        self.stop_training: bool = False
        self.run_eagerly: bool = False
        self.jit_compile: bool = False
        #: The draws of the random operations of each kind of step.
        self._draws: dict[Hashable, Draws] = {}
        self._loss_of: CompiledLoss | None = None
        self._compiled_metrics = CompiledMetrics(None, None, None)
        self._compiled: dict[str, Any] | None = None
        self._loss_tracker: Any = metrics_module.Mean(name="loss")

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        loss_weights: Any = None,
        metrics: Any = None,
        weighted_metrics: Any = None,
        run_eagerly: bool = False,
        steps_per_execution: int = 1,
        jit_compile: bool | str = "auto",
        auto_scale_loss: bool = True,
    ) -> None:
        """Set what ``fit`` minimises, how, and the figures that it reports.

        Of several outputs, each has its losses, weights and metrics: lists in the order of the
        outputs, or dictionaries by their names.

        ``run_eagerly`` chooses the seeds of random operations that are given none; with
        ``jit_compile=True`` there must be none. ``auto_scale_loss`` wraps the optimizer of a model
        of the policy ``"mixed_float16"`` in a ``LossScaleOptimizer``.
        """
        for figures in (metrics, weighted_metrics):
            if figures is not None and not isinstance(figures, (list, tuple, dict)):
                raise ValueError(
                    f"metrics must be in a list, a tuple or a dictionary; got {figures!r}"
                )
        only("Model.compile", steps_per_execution=(steps_per_execution, 1))
        self.optimizer = own = optimizers_module.get(optimizer)
        scales = isinstance(own, optimizers_module.LossScaleOptimizer)
        if auto_scale_loss and self.dtype_policy.name == "mixed_float16" and not scales:
            self.optimizer = optimizers_module.LossScaleOptimizer(own, name="loss_scale_optimizer")
        self.run_eagerly = run_eagerly
        self.jit_compile = jit_compile is True
        self._draws = {}
        self.loss = loss
        names = getattr(self, "output_names", None)
        self._loss_of = (
            None if loss is None else CompiledLoss(loss, loss_weights, names, run_eagerly)
        )
        self._compiled_metrics = CompiledMetrics(metrics, weighted_metrics, names)
        self._compiled = {
            "optimizer": own,
            "loss": loss,
            "loss_weights": loss_weights,
            "metrics": metrics,
            "weighted_metrics": weighted_metrics,
            "run_eagerly": run_eagerly,
            "steps_per_execution": steps_per_execution,
            "jit_compile": jit_compile,
        }
        self._loss_tracker = metrics_module.Mean(name="loss")

    @property
    def metrics(self) -> list[Any]:
        """The mean of the loss, all of ``compile`` as one metric, and those that are attributes."""
        own = [
            value
            for name, value in vars(self).items()
            if isinstance(value, metrics_module.Metric)
            and name not in ("_loss_tracker", "_compiled_metrics")
        ]
        compiled = [] if self._compiled_metrics.is_empty else [self._compiled_metrics]
        each = [] if self._loss_of is None else self._loss_of.metrics
        return [self._loss_tracker, *compiled, *each, *own]

    @property
    def metrics_names(self) -> list[str]:
        """The names of the metrics."""
        return [metric.name for metric in self.metrics]

    def reset_metrics(self) -> None:
        """Forget all batches."""
        for metric in self.metrics:
            metric.reset_state()

    def get_metrics_result(self) -> dict[str, Any]:
        """Each metric's figure by its name."""
        return flat({metric.name: metric.result() for metric in self.metrics})

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Any:
        """The loss of a batch, with what layers add to it."""
        del x, training  # for subclasses
        loss = None if self._loss_of is None else self._loss_of(y, y_pred, sample_weight)
        for penalty in self.losses:
            loss = penalty if loss is None else loss + tf.reduce_sum(penalty)
        if loss is None:
            raise ValueError("No loss to compute. Provide a `loss` argument in `compile()`.")
        return loss

    def compute_metrics(
        self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
    ) -> dict[str, Any]:
        """Take a batch into account, and give each metric's figure so far."""
        del x  # for subclasses
        self._compiled_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def _predicted(self, x: Any, training: bool) -> Any:
        """The outputs; ``training`` counts only for a ``call`` that takes it, as in Keras."""
        takes = "training" in inspect.signature(self.call).parameters
        return self(x, training=training) if takes else self(x)

    def train_step(self, data: Any) -> dict[str, Any]:
        """One step of ``fit``: a subclass may have its own, and returns the figures to report."""
        x, y, sample_weight = unpacked(data)
        with tf.GradientTape() as tape:
            predicted = self._predicted(x, training=True)
            loss = self.compute_loss(x, y, predicted, sample_weight)
            self._loss_tracker.update_state(loss, sample_weight=len(first_array(x)))
            scaled = self.optimizer.scale_loss(loss)
        variables = self.trainable_variables
        gradients = tape.gradient(scaled, variables)
        self.optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return self.compute_metrics(x, y, predicted, sample_weight)

    def test_step(self, data: Any) -> dict[str, Any]:
        """One step of ``evaluate``: a subclass may have its own."""
        x, y, sample_weight = unpacked(data)
        predicted = self._predicted(x, training=False)
        loss = self.compute_loss(x, y, predicted, sample_weight, training=False)
        self._loss_tracker.update_state(loss, sample_weight=len(first_array(x)))
        return self.compute_metrics(x, y, predicted, sample_weight)

    def predict_step(self, data: Any) -> Any:
        """One step of ``predict``: a subclass may have its own."""
        return self._predicted(unpacked(data)[0], training=False)

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool | str = True,
        class_weight: Mapping[int, float] | None = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: int | list[int] = 1,
    ) -> callbacks_module.History:
        """Train for some epochs; ``verbose="auto"`` prints nothing here.

        Rows are shuffled in TensorFlow's order, the same in each epoch if there is a global seed.
        """
        self._assert_compiled()
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = split((x, y, sample_weight), validation_split)
        batches = Batches(x, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight)
        validation = None
        if validation_data is not None:
            size = validation_batch_size or batch_size
            validation = Batches(*unpacked(validation_data), size, validation_steps)
        hooks = self._hooks(callbacks, verbose, epochs, batches, add_history=True)
        self.stop_training = False
        hooks.on_train_begin()
        figures: dict[str, Any] = {}
        for epoch in range(initial_epoch, epochs):
            self.reset_metrics()
            hooks.on_epoch_begin(epoch)
            figures = self._train_epoch(batches, hooks)
            if validation is not None and _is_due(epoch + 1, validation_freq):
                seen = self._tested(validation, hooks)
                figures |= {f"val_{name}": value for name, value in seen.items()}
            hooks.on_epoch_end(epoch, figures)
            if self.stop_training:
                break
        if epochs > 0:
            self.optimizer.finalize_variable_values(self.trainable_weights)
        hooks.on_train_end(figures or None)
        history: callbacks_module.History = self.history
        return history

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """The loss and the metrics of data."""
        self._assert_compiled()
        batches = Batches(x, y, sample_weight, batch_size, steps)
        figures = self._tested(batches, self._hooks(callbacks, verbose, 1, batches))
        return figures if return_dict else self._in_order(figures)

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:
        """The outputs for data, as arrays."""
        batches = Batches(x, batch_size=batch_size, steps=steps)
        hooks = self._hooks(callbacks, verbose, 1, batches)
        hooks.on_predict_begin()
        found = []
        for step, batch in enumerate(batches.epoch()):
            hooks.on_predict_batch_begin(step)
            outputs = self._step("predict", self.predict_step, packed(batch))
            found.append(mapped(lambda part: part.numpy(), outputs))
            hooks.on_predict_batch_end(step, {"outputs": found[-1]})
        hooks.on_predict_end()
        return joined(found)

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Mapping[int, float] | None = None,
        return_dict: bool = False,
    ) -> Any:
        """One step of the optimizer; the loss and the metrics before it."""
        if class_weight is not None:
            if sample_weight is not None:
                raise ValueError("pass `sample_weight` or `class_weight`, not both")
            sample_weight = weights_by_class(y, class_weight)
        return self._on_batch("train", self.train_step, (x, y, sample_weight), return_dict)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """The loss and the metrics of a batch."""
        return self._on_batch("test", self.test_step, (x, y, sample_weight), return_dict)

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for a batch, as arrays."""
        return mapped(lambda part: part.numpy(), self._step("predict", self.predict_step, (x,)))

    def _on_batch(self, kind: str, step: Callable[..., Any], batch: Any, by_name: bool) -> Any:
        self._assert_compiled()
        self.reset_metrics()
        x, y, sample_weight = (as_arrays(part) for part in batch)
        whole = next(Batches(x, y, sample_weight, batch_size=len(first_array(x))).epoch())
        figures = plain(self._step(kind, step, whole))
        return figures if by_name else self._in_order(figures)

    def _step(self, kind: str, step: Callable[..., Any], data: Any) -> Any:
        """A step in a graph of its kind, whose random operations go on where they stopped."""
        if self.run_eagerly:
            return step(data)
        with SEEDS.function(self._draws, kind, self.jit_compile):
            return step(data)

    def _train_epoch(self, batches: Batches, hooks: Any) -> dict[str, Any]:
        told: Any = {}
        counters: list[Callable[[], Any]] = []
        for step, batch in enumerate(batches.epoch()):
            hooks.on_train_batch_begin(step)
            with counting(self) as found:
                told = self._step("train", self.train_step, packed(batch))
            counters = found
            hooks.on_train_batch_end(step, plain(told))
            if self.stop_training:
                return self._results(told)
        if batches.ended_unforeseen and not self.run_eagerly:
            # As in Keras, which learns of the end by a step without data: what does not depend on
            # data is computed.
            for count in counters:
                count()
        return self._results(told)

    def _tested(self, batches: Batches, hooks: Any) -> dict[str, Any]:
        hooks.on_test_begin()
        self.reset_metrics()
        batches.reset()
        told: Any = {}
        for step, batch in enumerate(batches.epoch()):
            hooks.on_test_batch_begin(step)
            told = self._step("test", self.test_step, packed(batch))
            hooks.on_test_batch_end(step, plain(told))
        figures = self._results(told)
        hooks.on_test_end(figures)
        return figures

    def _results(self, told: Any) -> dict[str, Any]:
        """The metrics, or what a step of a subclass returned last if that has other names."""
        own = self.get_metrics_result()
        return plain(own if isinstance(told, dict) and told.keys() == own.keys() else told)

    def _in_order(self, figures: dict[str, Any]) -> Any:
        each = [
            part.name for metric in self.metrics for part in getattr(metric, "metrics", [metric])
        ]
        names = [name for name in each if name in figures]
        found = [figures[name] for name in [*names, *sorted(figures.keys() - set(names))]]
        return found[0] if len(found) == 1 else found

    def _hooks(
        self, callbacks: Any, verbose: Any, epochs: int, batches: Batches, add_history: bool = False
    ) -> Any:
        if isinstance(callbacks, callbacks_module.CallbackList):
            return callbacks
        return callbacks_module.CallbackList(
            callbacks,
            add_history=add_history,
            add_progbar=verbose not in (0, "auto"),
            model=self,
            verbose=verbose,
            epochs=epochs,
            steps=batches.steps,
        )

    def get_compile_config(self) -> dict[str, Any] | None:
        """The arguments of ``compile``, as plain values, if it was called."""
        compiled: dict[str, Any] | None = serialize_keras_object(self._compiled)
        return compiled

    def compile_from_config(self, config: Mapping[str, Any]) -> None:
        """Compile as another model was."""
        self.compile(**deserialize_keras_object(dict(config)))

    def _assert_compiled(self) -> None:
        if self.optimizer is None:
            raise ValueError("the model is not compiled; call `compile()` first")


def _is_due(epoch: int, frequency: int | Iterable[int]) -> bool:
    if isinstance(frequency, int):
        return epoch % frequency == 0
    if isinstance(frequency, list):
        return epoch in frequency
    raise ValueError(f"`validation_freq` is an integer or a list of epochs, not {frequency!r}")
