"""TensorFlow's names for what users of ``tf.GradientTape`` write, computed by a Gradwire service.

>>> import gradwire.tf as tf
>>> x = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     y = x**2
>>> tape.gradient(y, x)
<tf.Tensor: shape=(), dtype=float32, numpy=6.0>
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from gradwire.tf import absent, paths
from gradwire.tf import autodiff as autodiff
from gradwire.tf import autograph as autograph
from gradwire.tf import bitwise as bitwise
from gradwire.tf import config as config
from gradwire.tf import data as data
from gradwire.tf import debugging as debugging
from gradwire.tf import distribute as distribute
from gradwire.tf import dtypes as dtypes
from gradwire.tf import errors as errors
from gradwire.tf import experimental as experimental
from gradwire.tf import image as image
from gradwire.tf import io as io
from gradwire.tf import linalg as linalg
from gradwire.tf import lookup as lookup
from gradwire.tf import math as math
from gradwire.tf import nest as nest
from gradwire.tf import nn as nn
from gradwire.tf import ragged as ragged
from gradwire.tf import random as random
from gradwire.tf import saved_model as saved_model
from gradwire.tf import sets as sets
from gradwire.tf import signal as signal
from gradwire.tf import sparse as sparse
from gradwire.tf import strings as strings
from gradwire.tf import summary as summary
from gradwire.tf import test as test
from gradwire.tf import train as train
from gradwire.tf import version as version
from gradwire.tf.conversion import *
from gradwire.tf.custom import *
from gradwire.tf.debugging import Assert as Assert
from gradwire.tf.debugging import assert_equal as assert_equal
from gradwire.tf.debugging import assert_greater as assert_greater
from gradwire.tf.debugging import assert_less as assert_less
from gradwire.tf.debugging import assert_rank as assert_rank
from gradwire.tf.dtypes import *
from gradwire.tf.dtypes import DType, bool_
from gradwire.tf.function_gradients import *
from gradwire.tf.function_traces import *
from gradwire.tf.functions import *
from gradwire.tf.modules import *
from gradwire.tf.operators import *
from gradwire.tf.python_functions import *
from gradwire.tf.ragged_tensors import *
from gradwire.tf.scopes import *
from gradwire.tf.shapes import *
from gradwire.tf.slices import *
from gradwire.tf.sparse_tensors import *
from gradwire.tf.specs import *
from gradwire.tf.strings import as_string as as_string
from gradwire.tf.tapes import *
from gradwire.tf.tensors import *
from gradwire.tf.toplevel import *
from gradwire.tf.variables import *

bool: DType = bool_
newaxis: None = None
__version__: str = version.VERSION

if TYPE_CHECKING:
    from gradwire.tf import compat as compat
    from gradwire.tf import keras as keras
    from gradwire.tf import raw_ops as raw_ops
    from gradwire.tf.keras import initializers as initializers
    from gradwire.tf.keras import losses as losses
    from gradwire.tf.keras import metrics as metrics
    from gradwire.tf.keras import optimizers as optimizers
    from gradwire.tf.random import initializers as random_initializers

    constant_initializer: type[initializers.Constant]
    ones_initializer: type[initializers.Ones]
    random_normal_initializer: type[random_initializers.RandomNormal]
    random_uniform_initializer: type[random_initializers.RandomUniform]
    zeros_initializer: type[initializers.Zeros]

#: The modules of the names above, imported on first use; after a colon, the attribute there.
_LATER: dict[str, str] = {
    "compat": "compat",
    "constant_initializer": "keras.initializers:Constant",
    "initializers": "keras.initializers",
    "keras": "keras",
    "losses": "keras.losses",
    "metrics": "keras.metrics",
    "ones_initializer": "keras.initializers:Ones",
    "optimizers": "keras.optimizers",
    "random_normal_initializer": "random.initializers:RandomNormal",
    "random_uniform_initializer": "random.initializers:RandomUniform",
    "raw_ops": "raw_ops",
    "zeros_initializer": "keras.initializers:Zeros",
}

if not TYPE_CHECKING:  # type checkers take the names from above

    def __getattr__(name: str) -> Any:
        """Import Keras or the raw operations."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module, _, attribute = _LATER[name].partition(":")
        value = import_module(f"gradwire.tf.{module}")
        if attribute:
            value = getattr(value, attribute)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


absent.name_missing(sys.modules[__name__])
sys.meta_path.insert(0, paths.OtherPaths())  # before those that would find files anew
sys.meta_path.append(absent.MissingImports())
