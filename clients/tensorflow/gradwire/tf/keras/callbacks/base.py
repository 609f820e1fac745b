"""Callbacks of ``fit``, ``evaluate`` and ``predict`` for each of their stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

__all__ = ["Callback", "CallbackList", "History", "LambdaCallback", "ProgbarLogger"]

Logs: TypeAlias = Mapping[str, Any] | None


class Callback:
    """Methods that do nothing, to be overridden; ``model`` is what is trained."""

    def __init__(self) -> None:
        self.params: Any = None
        self._model: Any = None

    @property
    def model(self) -> Any:
        """The model that is trained."""
        return self._model

    def set_params(self, params: Any) -> None:
        """Take what ``fit`` was called with: verbose, epochs, steps."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Take the model that is trained."""
        self._model = model

    def on_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Older name of ``on_train_batch_begin``."""

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Older name of ``on_train_batch_end``."""

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        """Called before an epoch of training."""

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        """Called after an epoch, with the figures of training and validation."""

    def on_train_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Called before a batch of ``fit``."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Called after a batch of ``fit``, with the figures of the epoch so far."""
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Called before a batch of ``evaluate``, also within ``fit``."""

    def on_test_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Called after a batch of ``evaluate``, also within ``fit``."""

    def on_predict_batch_begin(self, batch: int, logs: Logs = None) -> None:
        """Called before a batch of ``predict``."""

    def on_predict_batch_end(self, batch: int, logs: Logs = None) -> None:
        """Called after a batch of ``predict``, with its ``outputs``."""

    def on_train_begin(self, logs: Logs = None) -> None:
        """Called once before training."""

    def on_train_end(self, logs: Logs = None) -> None:
        """Called once after training, with the figures of the last epoch."""

    def on_test_begin(self, logs: Logs = None) -> None:
        """Called before ``evaluate``, also within ``fit``."""

    def on_test_end(self, logs: Logs = None) -> None:
        """Called after ``evaluate``, also within ``fit``."""

    def on_predict_begin(self, logs: Logs = None) -> None:
        """Called before ``predict``."""

    def on_predict_end(self, logs: Logs = None) -> None:
        """Called after ``predict``."""


class History(Callback):
    """The result of ``fit``: ``history`` has each figure of each epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Any]] = {}
        self.epoch: list[int] = []

    def on_train_begin(self, logs: Logs = None) -> None:
        self.epoch = []

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)
        self.model.history = self


class LambdaCallback(Callback):
    """Functions as a callback, each by the name of the method that it is."""

    def __init__(
        self,
        on_epoch_begin: Callable[..., Any] | None = None,
        on_epoch_end: Callable[..., Any] | None = None,
        on_train_begin: Callable[..., Any] | None = None,
        on_train_end: Callable[..., Any] | None = None,
        on_train_batch_begin: Callable[..., Any] | None = None,
        on_train_batch_end: Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        functions = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
            "on_train_batch_begin": on_train_batch_begin,
            "on_train_batch_end": on_train_batch_end,
        }
        for name in kwargs:
            if not (name.startswith("on_") and hasattr(Callback, name)):
                raise TypeError(f"LambdaCallback got {name!r}, which no callback has")
        self.__dict__.update(
            {name: each for name, each in (functions | kwargs).items() if each is not None}
        )


class ProgbarLogger(Callback):
    """Prints each epoch's figures; ``verbose`` 2, or 1, which draws no bar here."""

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        if self.params["verbose"] in (1, 2):
            shown = " - ".join(f"{name}: {value:.4f}" for name, value in (logs or {}).items())
            print(f"Epoch {epoch + 1}/{self.params['epochs']} - {shown}")  # noqa: T201


class CallbackList(Callback):
    """Callbacks as one, called in their order."""

    def __init__(
        self,
        callbacks: Any = None,
        add_history: bool = False,
        add_progbar: bool = False,
        model: Any = None,
        **params: Any,
    ) -> None:
        super().__init__()
        self.callbacks: list[Any] = _flat(callbacks)
        known = [each for each in self.callbacks if isinstance(each, History)]
        if add_history and not known:
            known = [History()]
            self.callbacks.append(known[0])
        if add_progbar and not any(isinstance(each, ProgbarLogger) for each in self.callbacks):
            self.callbacks.append(ProgbarLogger())
        self._history: History | None = known[-1] if known else None
        if model is not None:
            self.set_model(model)
        self.set_params(params)

    def append(self, callback: Any) -> None:
        """Add a callback."""
        self.callbacks.append(callback)

    def set_params(self, params: Any) -> None:
        self.params = params
        if params:
            self._each("set_params", params)

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        if self._history is not None:
            model.history = self._history
        self._each("set_model", model)

    def _each(self, method: str, *args: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, method)(*args)


def _forwarding(method: str) -> Callable[..., None]:
    """A method of CallbackList that calls the same of each callback."""
    if "batch" in method:

        def of_batch(self: CallbackList, batch: int, logs: Logs = None) -> None:
            self._each(method, batch, logs)

        return of_batch
    if "epoch" in method:

        def of_epoch(self: CallbackList, epoch: int, logs: Logs = None) -> None:
            self._each(method, epoch, logs)

        return of_epoch

    def plain(self: CallbackList, logs: Logs = None) -> None:
        self._each(method, logs)

    return plain


for _method in [name for name in vars(Callback) if name.startswith("on_")]:
    setattr(CallbackList, _method, _forwarding(_method))


def _flat(callbacks: Any) -> list[Any]:
    if callbacks is None:
        return []
    if isinstance(callbacks, Sequence):
        return [each for part in callbacks for each in _flat(part)]
    return [callbacks]
