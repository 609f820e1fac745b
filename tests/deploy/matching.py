"""PCRE, as nginx matches with it, and the steps that it takes."""

import ctypes
import re
from pathlib import Path

_LIBRARY = "libpcre2-8.so.0"
_MATCH_LIMIT = -47  # PCRE2_ERROR_MATCHLIMIT

try:
    _PCRE = ctypes.CDLL(_LIBRARY)
except OSError:
    AVAILABLE = False
else:
    AVAILABLE = True
    for _name in ("compile", "match_context_create", "match_data_create_from_pattern"):
        getattr(_PCRE, f"pcre2_{_name}_8").restype = ctypes.c_void_p


def patterns(configuration: Path) -> list[bytes]:
    """The patterns of a file that nginx reads, each in single quotes as a map's first word."""
    found = re.findall(r"^ +'~(.*)' \S+;$", configuration.read_text(), re.MULTILINE)
    return [re.sub(r"\\([\\'\"])", r"\1", pattern).encode() for pattern in found]


def matches_within(pattern: bytes, subject: bytes, steps: int) -> bool:
    """Whether a match from each place of ``subject`` is found, or none, in so many steps."""
    number, offset = ctypes.c_int(), ctypes.c_size_t()
    code = ctypes.c_void_p(
        _PCRE.pcre2_compile_8(
            pattern, ctypes.c_size_t(len(pattern)), 0, *map(ctypes.byref, (number, offset)), None
        )
    )
    assert code.value, (pattern, number.value, offset.value)
    matched = ctypes.c_void_p(_PCRE.pcre2_match_data_create_from_pattern_8(code, None))
    context = ctypes.c_void_p(_PCRE.pcre2_match_context_create_8(None))
    try:
        _PCRE.pcre2_set_match_limit_8(context, ctypes.c_uint32(steps))
        size, start = ctypes.c_size_t(len(subject)), ctypes.c_size_t(0)
        found: int = _PCRE.pcre2_match_8(code, subject, size, start, 0, matched, context)
    finally:
        _PCRE.pcre2_match_context_free_8(context)
        _PCRE.pcre2_match_data_free_8(matched)
        _PCRE.pcre2_code_free_8(code)
    assert found >= -1 or found == _MATCH_LIMIT, found
    return found != _MATCH_LIMIT
