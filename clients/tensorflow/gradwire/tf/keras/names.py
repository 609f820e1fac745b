"""Names that Keras makes up: ``dense``, ``dense_1``, …"""

from __future__ import annotations

import re
import sys
from collections import Counter

from gradwire.tf.keras.settings import forget_policy

_GIVEN: Counter[str] = Counter()


def snake_case(name: str) -> str:
    """``LayerNormalization`` as ``layer_normalization``."""
    split = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", split).lower()


def unique_name(stem: str) -> str:
    """The stem, with a number from its second use on."""
    count = _GIVEN[stem]
    _GIVEN[stem] += 1
    return f"{stem}_{count}" if count else stem


def clear_session() -> None:
    """Begin to count names anew, and let ``floatx`` apply to layers."""
    _GIVEN.clear()
    forget_policy()


def listed(package: str) -> list[str]:
    """The names that the modules of a package, as far as they are imported, list as theirs."""
    below = len(package) + 1
    modules = [
        each
        for name, each in list(sys.modules.items())
        if name.startswith(package) and "." not in name[below:]
    ]
    return sorted({name for each in modules for name in getattr(each, "__all__", ())})
