"""Scenario texts to write tests with."""

HEAD = "name: a name\nsql: |\n  SELECT 1;"


def scenario(*parts: str) -> str:
    return "\n".join([HEAD, *parts]) + "\n"


def steps(*written: str) -> str:
    return scenario("steps:", *(f"  - {step}" for step in written))
