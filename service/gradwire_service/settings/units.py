"""Bytes, as settings count them."""

KIBIBYTE = 1 << 10
MEBIBYTE = 1 << 20
GIBIBYTE = 1 << 30
