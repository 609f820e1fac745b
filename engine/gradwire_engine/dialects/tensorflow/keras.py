"""Keras's activations."""

from __future__ import annotations

from gradwire_engine.dialects.tensorflow.names import TF

_entry = TF.entry
_A = "keras.activations."

for _names, _operation, _parameters in (
    ("sigmoid relu6 softplus softsign tanh mish log_sigmoid", "", "x"),
    ("linear", "positive", "x"),
    ("exponential", "exp", "x"),
    ("silu", "silu", "x"),
    ("swish", "silu", "x"),
    ("hard_sigmoid", "hardsigmoid", "x"),
    ("hard_tanh", "hardtanh", "x"),
    ("hard_silu", "hardswish", "x"),
    ("hard_swish", "hardswish", "x"),
    ("elu celu", "", "x alpha=1.0"),
    ("leaky_relu", "", "x negative_slope=0.2"),
    ("gelu", "", "x approximate=False"),
    ("softmax log_softmax glu", "", "x axis=-1"),
):
    for _name in _names.split():
        _entry(_A + _name, _operation or _name, _parameters)
