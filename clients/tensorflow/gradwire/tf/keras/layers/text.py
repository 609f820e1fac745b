"""A layer that turns texts into numbers: of words, in a vocabulary."""

from __future__ import annotations

from typing import Any

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.categories import mode_of
from gradwire.tf.keras.layers.lookups import StringLookup
from gradwire.tf.keras.objects import serialize_keras_object

__all__ = ["TextVectorization"]

_PUNCTUATION = r'[!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']'
_STANDARDIZE = ("lower_and_strip_punctuation", "lower", "strip_punctuation", None)
_MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf")


class TextVectorization(Layer):
    """Texts standardised, split, and looked up in a vocabulary, given or learnt by ``adapt``."""

    def __init__(
        self,
        max_tokens: int | None = None,
        standardize: Any = "lower_and_strip_punctuation",
        split: Any = "whitespace",
        ngrams: Any = None,
        output_mode: str = "int",
        output_sequence_length: int | None = None,
        pad_to_max_tokens: bool = False,
        vocabulary: Any = None,
        idf_weights: Any = None,
        sparse: bool = False,
        ragged: bool = False,
        encoding: str = "utf-8",
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        only("TextVectorization", sparse=(sparse, False))
        if not callable(standardize) and standardize not in _STANDARDIZE:
            raise ValueError(
                f"`standardize` must be a function or one of {_STANDARDIZE}; got {standardize!r}"
            )
        if not callable(split) and split not in ("whitespace", "character", None):
            raise ValueError(
                f"`split` must be a function, 'whitespace', 'character' or None; got {split!r}"
            )
        mode = mode_of(output_mode, "TextVectorization", _MODES)
        if mode != "int" and (output_sequence_length is not None or ragged):
            raise ValueError(
                "`output_sequence_length` and `ragged` need `output_mode='int'`; got "
                f"{output_mode!r} with {output_sequence_length} and {ragged}"
            )
        self._standardize: Any = standardize
        self._split: Any = split
        self._ngrams: Any = tuple(ngrams) if isinstance(ngrams, list) else ngrams
        self._output_mode: str = mode
        self._output_sequence_length: int | None = output_sequence_length
        self._ragged: bool = ragged
        self._lookup_layer: StringLookup = StringLookup(
            max_tokens=max_tokens,
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            pad_to_max_tokens=pad_to_max_tokens,
            mask_token="",
            output_mode=mode,
            encoding=encoding,
        )

    @property
    def compute_dtype(self) -> Any:
        """The dtype of texts."""
        return "string"

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Learn the vocabulary: the words of texts, the most frequent first."""
        del batch_size  # of arrays, which are counted at once
        whole = isinstance(data, (list, tuple)) or hasattr(data, "__array__")
        self._lookup_layer.reset_state()
        for step, batch in enumerate([data] if whole else data):
            if steps is not None and step >= steps:
                break
            self._lookup_layer.update_state(self._words(batch))
        self._lookup_layer.finalize_state()

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """The words in their order."""
        return self._lookup_layer.get_vocabulary(include_special_tokens)

    def vocabulary_size(self) -> int:
        """The number of words, the special ones included."""
        return self._lookup_layer.vocabulary_size()

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Set the words, or the file that has one on each line."""
        self._lookup_layer.set_vocabulary(vocabulary, idf_weights)

    def _words(self, texts: Any) -> Any:
        """The words of each text: ragged, unless they are not split."""
        if not hasattr(texts, "nested_row_splits"):
            texts = tf.convert_to_tensor(texts, tf.string)
        how = "" if callable(self._standardize) or self._standardize is None else self._standardize
        if "lower" in how:
            texts = tf.strings.lower(texts)
        if "strip_punctuation" in how:
            texts = tf.strings.regex_replace(texts, _PUNCTUATION, "")
        if callable(self._standardize):
            texts = self._standardize(texts)
        if self._split is not None:
            texts = self._parts(texts)
        if self._ngrams is None:
            return texts
        width = self._ngrams
        widths = tuple(range(1, width + 1)) if isinstance(width, int) else width
        return tf.strings.ngrams(texts, ngram_width=widths, separator=" ")

    def _parts(self, texts: Any) -> Any:
        if len(texts.shape) > 1:
            if texts.shape[-1] != 1:
                raise ValueError(
                    "TextVectorization splits texts along one axis, or with a last axis of length "
                    f"1; got shape {tuple(texts.shape)}"
                )
            texts = tf.squeeze(texts, axis=-1)
        if callable(self._split):
            return self._split(texts)
        if self._split == "character":
            return tf.strings.unicode_split(texts, "UTF-8")
        return tf.strings.split(texts)

    def call(self, inputs: Any) -> Any:
        found = self._lookup_layer.call(self._words(inputs))
        length = self._output_sequence_length
        if self._output_mode != "int":
            return found
        if hasattr(found, "to_tensor"):
            if self._ragged:
                return found if length is None else found[..., :length]
            return found.to_tensor(default_value=0, shape=[*found.shape[:-1], length])
        if length is None:
            return found
        found = found[..., :length]
        lacking = length - found.shape[-1]
        return tf.pad(found, [[0, 0]] * (len(found.shape) - 1) + [[0, lacking]])

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another, with the vocabulary that data gave."""
        lookup = self._lookup_layer.get_config()
        names = ("max_tokens", "pad_to_max_tokens", "vocabulary", "idf_weights", "encoding")
        functions = {"standardize": self._standardize, "split": self._split}
        return (
            self._basic_config()
            | {name: lookup[name] for name in names}
            | {name: serialize_keras_object(each) for name, each in functions.items()}
            | {
                "ngrams": self._ngrams,
                "output_mode": self._output_mode,
                "output_sequence_length": self._output_sequence_length,
                "ragged": self._ragged,
            }
        )
