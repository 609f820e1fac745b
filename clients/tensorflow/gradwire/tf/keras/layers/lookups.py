"""Layers that look up words and numbers in a vocabulary, given or learnt from data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import gradwire.tf as tf
from gradwire.tf.arguments import only
from gradwire.tf.keras.layers.base import Layer
from gradwire.tf.keras.layers.categories import encoded, mode_of
from gradwire.tf.keras.settings import floatx

__all__ = ["IntegerLookup", "StringLookup"]

_MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf")


class _Lookup(Layer):
    """The place of each token in a vocabulary, which special tokens begin."""

    _of: ClassVar[Any]

    def __init__(
        self,
        max_tokens: int | None,
        num_oov_indices: int,
        mask_token: Any,
        oov_token: Any,
        vocabulary: Any,
        idf_weights: Any,
        invert: bool,
        output_mode: str,
        sparse: bool,
        pad_to_max_tokens: bool,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        name = type(self).__name__
        only(name, sparse=(sparse, False))
        if max_tokens is not None and max_tokens <= 1:
            raise ValueError(f"`max_tokens` must be None or at least 2; got {max_tokens}")
        if num_oov_indices < 0:
            raise ValueError(f"`num_oov_indices` cannot be negative; got {num_oov_indices}")
        self.max_tokens: int | None = max_tokens
        self.num_oov_indices: int = num_oov_indices
        self.mask_token: Any = mask_token
        self.oov_token: Any = oov_token
        self.invert: bool = invert
        self.output_mode: str = mode_of(output_mode, name, _MODES)
        self.sparse: bool = sparse
        self.pad_to_max_tokens: bool = pad_to_max_tokens
        if pad_to_max_tokens and max_tokens is None:
            raise ValueError("`pad_to_max_tokens` needs a number as `max_tokens`; got None")
        if invert and self.output_mode != "int":
            raise ValueError(f"`invert` works only with `output_mode='int'`; got {output_mode!r}")
        self._is_given: bool = vocabulary is not None
        self._tokens: list[Any] = []
        self._idf: Any = None
        self.reset_state()
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    @property
    def compute_dtype(self) -> Any:
        """The dtype of tokens."""
        return self._of.name

    def _special(self) -> list[Any]:
        """The tokens that begin the vocabulary: the mask, where places count, and the unknown."""
        masks = [self.mask_token] * (self.mask_token is not None and self.output_mode == "int")
        return masks + [self.oov_token] * self.num_oov_indices

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """The tokens in their order."""
        return [*(self._special() if include_special_tokens else []), *self._tokens]

    def vocabulary_size(self) -> int:
        """The number of tokens, the special ones included."""
        return len(self._special()) + len(self._tokens)

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Set the tokens, with or without the special ones, or the file that has one on each line.

        Raises:
            ValueError: A token is repeated or special, there are too many, or none.
        """
        if (idf_weights is None) == (self.output_mode == "tf_idf"):
            raise ValueError(
                "`idf_weights` belong to `output_mode='tf_idf'`, which needs them; got "
                f"output_mode={self.output_mode!r}, idf_weights={idf_weights}"
            )
        if isinstance(vocabulary, str):
            vocabulary = Path(vocabulary).read_text(encoding="utf-8").splitlines()
        tokens = [self._token(each) for each in np.asarray(vocabulary).tolist()]
        if not tokens:
            raise ValueError(f"`vocabulary` has no tokens; got {vocabulary}")
        special = self._special()
        front = len(special) if tokens[: len(special)] == special else 0
        tokens = tokens[front:]
        repeated = [each for each, count in Counter(tokens).items() if count > 1]
        if repeated:
            raise ValueError(f"`vocabulary` has these tokens more than once: {repeated}")
        reserved = {self.mask_token, self.oov_token if self.invert else None} - {None}
        if reserved & {*tokens}:
            raise ValueError(
                f"`vocabulary` has special tokens out of place: {reserved & {*tokens}}. "
                f"Leave them out, or begin the vocabulary with {special}."
            )
        size = len(special) + len(tokens)
        if self.max_tokens is not None and size > self.max_tokens:
            raise ValueError(
                f"`vocabulary` has {size} tokens with the special ones, more than the "
                f"{self.max_tokens} of `max_tokens`"
            )
        self._tokens, self._is_given = tokens, True
        if idf_weights is not None:
            weights = np.asarray(idf_weights, np.float64)
            if len(weights) != front + len(tokens):
                raise ValueError(
                    f"{len(weights)} `idf_weights` for {front + len(tokens)} tokens; "
                    "each token needs one"
                )
            self._weigh(weights, front)

    def _weigh(self, weights: Any, front: int) -> None:
        """Weights of all tokens; special ones without have the mean."""
        before = len(self._special()) - front
        self._idf = np.pad(weights, (before, 0), constant_values=np.mean(weights))

    def adapt(self, data: Any, steps: int | None = None) -> None:
        """Learn the vocabulary: the tokens of the data, the most frequent first."""
        self.reset_state()
        for step, batch in enumerate(_batches(data)):
            if steps is not None and step >= steps:
                break
            self.update_state(batch)
        self.finalize_state()

    def update_state(self, data: Any) -> None:
        """Count the tokens of a batch, whose rows are documents."""
        if self._is_given:
            raise ValueError(
                f"'{self.name}' was given its vocabulary, so it does not learn one from data"
            )
        rows = data.to_list() if hasattr(data, "to_list") else np.atleast_1d(_array(data))
        if not hasattr(data, "to_list"):
            rows = rows[None] if rows.ndim == 1 else rows
        for row in rows:
            tokens = [self._token(each) for each in np.ravel(np.asarray(row, object))]
            self._counts.update(tokens)
            self._documents.update({*tokens})
            self._seen += 1

    def finalize_state(self) -> None:
        """Order what was counted."""
        if self._is_given or not self._counts:
            return
        for special in (self.mask_token, self.oov_token):
            self._counts.pop(special, None)
        room = None if self.max_tokens is None else self.max_tokens - len(self._special())
        ordered = sorted(self._counts, key=self._rank, reverse=True)
        self._tokens = ordered[:room]
        if self.output_mode == "tf_idf":
            counts = np.array([self._documents[each] for each in self._tokens])
            self._weigh(np.log(1 + self._seen / (1 + counts)), 0)
        self.reset_state()

    def _rank(self, token: Any) -> tuple[int, Any]:
        return self._counts[token], token.encode() if isinstance(token, str) else token

    def reset_state(self) -> None:
        """Forget what was counted."""
        self._counts: Counter[Any] = Counter()
        self._documents: Counter[Any] = Counter()
        self._seen: int = 0

    def _token(self, value: Any) -> Any:
        """A token as Python has it."""
        raise NotImplementedError(f"{type(self).__name__} must have a method _token")

    def call(self, inputs: Any) -> Any:
        if hasattr(inputs, "nested_row_splits"):
            places: Any = tf.ragged.map_flat_values(self._found, inputs)
        else:
            places = self._found(inputs)
        if self.output_mode == "int":
            return places
        depth = self.max_tokens if self.pad_to_max_tokens else self.vocabulary_size()
        assert depth is not None
        if hasattr(places, "to_tensor"):
            places = places.to_tensor(default_value=depth)
        if self.output_mode != "tf_idf":
            return encoded(places, self.output_mode, depth, tf.int64)
        counts = encoded(places, "count", depth, tf.as_dtype(floatx()))
        weights = np.pad(self._idf, (0, depth - len(self._idf)))
        return counts * tf.constant(weights, counts.dtype)

    def _found(self, inputs: Any) -> Any:
        """The places of tokens, or the tokens at places."""
        given = _array(inputs)
        if self.invert:
            known = dict(enumerate(self.get_vocabulary()))
            found = np.empty(given.shape, object)
            for at, place in np.ndenumerate(given):
                found[at] = known.get(int(place), self.oov_token)
            return tf.constant(found.tolist(), self._of)
        first = len(self._special())
        places = {token: first + place for place, token in enumerate(self._tokens)}
        if self.mask_token is not None:
            places[self.mask_token] = 0 if self.output_mode == "int" else np.iinfo(np.int64).max
        numbers = np.empty(given.shape, np.int64)
        for at, value in np.ndenumerate(given):
            token = self._token(value)
            numbers[at] = places[token] if token in places else self._unknown(token)
        return tf.constant(numbers)

    def _unknown(self, token: Any) -> int:
        """The place of a token that is not in the vocabulary."""
        if not self.num_oov_indices:
            raise tf.errors.InvalidArgumentError(
                None,
                None,
                f"The vocabulary lacks {token!r}; `num_oov_indices=1` makes room for unknown "
                "tokens",
            )
        first = len(self._special()) - self.num_oov_indices
        return first if self.num_oov_indices == 1 else first + self._bucket(token)

    def _bucket(self, token: Any) -> int:
        raise NotImplementedError(
            f"{type(self).__name__} does not implement num_oov_indices={self.num_oov_indices}, "
            "which hashes tokens; 0 and 1 are possible"
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another, with the vocabulary that data gave."""
        weights = self._idf
        return self._basic_config() | {
            "max_tokens": self.max_tokens,
            "num_oov_indices": self.num_oov_indices,
            "mask_token": self.mask_token,
            "oov_token": self.oov_token,
            "vocabulary": self.get_vocabulary() if self._tokens else None,
            "idf_weights": None if weights is None else weights.tolist(),
            "invert": self.invert,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
            "pad_to_max_tokens": self.pad_to_max_tokens,
        }


class StringLookup(_Lookup):
    """The place of each word in a vocabulary, or with ``invert`` the word at each place."""

    _of = tf.string

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: str | None = None,
        oov_token: str = "[UNK]",  # noqa: S107 - no password
        vocabulary: Any = None,
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        pad_to_max_tokens: bool = False,
        sparse: bool = False,
        encoding: str = "utf-8",
        name: str | None = None,
        salt: Any = None,
        **kwargs: Any,
    ) -> None:
        only("StringLookup", salt=(salt, None))
        self.encoding: str = encoding
        super().__init__(
            max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert,
            output_mode, sparse, pad_to_max_tokens, name=name, **kwargs,
        )  # fmt: skip

    def _token(self, value: Any) -> Any:
        return value.decode(self.encoding) if isinstance(value, bytes) else str(value)

    def get_config(self) -> dict[str, Any]:
        """The arguments that would make another, with the vocabulary that data gave."""
        return super().get_config() | {"encoding": self.encoding}


class IntegerLookup(_Lookup):
    """The place of each integer in a vocabulary, or with ``invert`` the integer at each place."""

    _of = tf.int64

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: int | None = None,
        oov_token: int = -1,
        vocabulary: Any = None,
        vocabulary_dtype: str = "int64",
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        sparse: bool = False,
        pad_to_max_tokens: bool = False,
        oov_method: str = "floormod",
        salt: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        only(
            "IntegerLookup",
            vocabulary_dtype=(vocabulary_dtype, "int64"),
            oov_method=(oov_method, "floormod"),
            salt=(salt, None),
        )
        super().__init__(
            max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert,
            output_mode, sparse, pad_to_max_tokens, name=name, **kwargs,
        )  # fmt: skip

    def _token(self, value: Any) -> Any:
        return int(value)

    def _bucket(self, token: int) -> int:
        return token % self.num_oov_indices


def _array(value: Any) -> Any:
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def _batches(data: Any) -> Iterator[Any]:
    """Batches of a data set or of an iterable; an array or a list is one."""
    if isinstance(data, (list, tuple)) or hasattr(data, "__array__") or hasattr(data, "to_list"):
        array = data if hasattr(data, "to_list") else _array(data)
        yield array[:, None] if getattr(array, "ndim", 2) == 1 else array
        return
    yield from data
