"""Derivatives, tape to tape."""
