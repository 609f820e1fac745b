"""Pictures of programs: their graphs as SVG, DOT and JSON."""
