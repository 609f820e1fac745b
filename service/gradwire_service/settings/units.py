"""Bytes and times, as settings count them."""

KIBIBYTE = 1 << 10
MEBIBYTE = 1 << 20
GIBIBYTE = 1 << 30
#: Beyond it, when something ends is no date that can be told.
CENTURY_SECONDS = 100 * 365 * 24 * 3600
