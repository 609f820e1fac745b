"""Graphs of programs as SVG, DOT and JSON."""
