"""Callbacks: what training calls at its stages."""

from gradwire.tf.keras.callbacks.base import (
    Callback,
    CallbackList,
    History,
    LambdaCallback,
    ProgbarLogger,
)
from gradwire.tf.keras.callbacks.checkpoint import ModelCheckpoint
from gradwire.tf.keras.callbacks.epochs import CSVLogger, LearningRateScheduler, TerminateOnNaN
from gradwire.tf.keras.callbacks.monitoring import EarlyStopping, ReduceLROnPlateau

__all__ = [
    "CSVLogger",
    "Callback",
    "CallbackList",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "ModelCheckpoint",
    "ProgbarLogger",
    "ReduceLROnPlateau",
    "TerminateOnNaN",
]
