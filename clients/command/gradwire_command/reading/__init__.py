"""Programs and values, read from the command line, files and standard input."""
