"""The command ``gradwire``: programs, values and answers in a shell."""
