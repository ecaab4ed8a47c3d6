"""The language of experiments, and the experiments that ship."""
