"""Stored arrays, which requests refer to by digest."""
