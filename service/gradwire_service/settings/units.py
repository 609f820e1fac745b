"""Bytes, as settings count them."""

MEBIBYTE = 1 << 20
GIBIBYTE = 1 << 30
