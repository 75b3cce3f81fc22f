"""The live page: what a run does, looked at with a browser. Nothing is asked of the run but to be looked at."""
