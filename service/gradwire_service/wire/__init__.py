"""Translates between bytes and the engine's types: codecs, requests, leaves and arrays."""
