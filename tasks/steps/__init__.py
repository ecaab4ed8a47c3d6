"""The kinds of step, one module each."""
