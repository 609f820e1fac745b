"""Layers by Keras's names."""

from gradwire.tf.keras.layers.base import Lambda, Layer
from gradwire.tf.keras.layers.convolution import (
    AveragePooling1D,
    AveragePooling2D,
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    MaxPooling1D,
    MaxPooling2D,
    UpSampling2D,
    ZeroPadding2D,
)
from gradwire.tf.keras.layers.core import (
    ELU,
    Activation,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    GaussianNoise,
    InputLayer,
    LeakyReLU,
    Permute,
    PReLU,
    ReLU,
    RepeatVector,
    Reshape,
    Softmax,
)
from gradwire.tf.keras.layers.merging import (
    Add,
    Average,
    Concatenate,
    Dot,
    Maximum,
    Minimum,
    Multiply,
    Subtract,
    add,
    average,
    concatenate,
    maximum,
    minimum,
    multiply,
    subtract,
)
from gradwire.tf.keras.layers.normalization import (
    BatchNormalization,
    LayerNormalization,
    UnitNormalization,
)
from gradwire.tf.keras.layers.recurrent import (
    GRU,
    LSTM,
    RNN,
    GRUCell,
    LSTMCell,
    SimpleRNN,
    SimpleRNNCell,
)
from gradwire.tf.keras.symbolic import Input

#: Keras's other names for these.
Convolution1D, Convolution2D, MaxPool1D, MaxPool2D = Conv1D, Conv2D, MaxPooling1D, MaxPooling2D
AvgPool1D, AvgPool2D = AveragePooling1D, AveragePooling2D
GlobalAvgPool1D, GlobalAvgPool2D = GlobalAveragePooling1D, GlobalAveragePooling2D

__all__ = [name for name in dir() if not name.startswith("_")]
