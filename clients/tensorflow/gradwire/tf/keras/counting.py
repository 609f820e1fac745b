"""The counts of a training step: the steps of optimizers, and the draws of seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from gradwire.tf.keras import seeds
from gradwire.tf.keras.optimizers import Optimizer


@contextmanager
def counting(model: Any) -> Iterator[list[Callable[[], Any]]]:
    """The functions that count once more as the step in this context did; filled in at its end."""
    optimizers = [each for each in vars(model).values() if isinstance(each, Optimizer)]
    before = [int(each.iterations.numpy()) for each in optimizers]
    found: list[Callable[[], Any]] = []
    with seeds.noted() as draws:
        yield found
    found += [partial(generator.next, ordered) for generator, ordered in draws]
    found += [
        partial(each.iterations.assign_add, 1)
        for each, count in zip(optimizers, before, strict=True)
        if not each.gradient_accumulation_steps and int(each.iterations.numpy()) > count
    ]
