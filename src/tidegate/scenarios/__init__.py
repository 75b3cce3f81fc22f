"""Scenarios: scripted streams with their expected output, one per YAML file.

`loader` reads and checks a file, `values` gives its values the types of their columns, `runner` plays the steps to an
engine, and `compare` says how what came out differs from what was expected. Engines are not known here: whoever runs
a scenario hands over a `Subject`. The YAML library is an extra, so nothing here is imported before a scenario is.
"""
