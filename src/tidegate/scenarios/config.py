"""The `config` of a scenario, as the document that `tidegate.toml` would be.

Sections are written as in the file; any other key is an option, and means the same under `[defaults]`.
"""

from collections.abc import Mapping

from tidegate.scenarios.steps import Raw

SECTIONS = ("defaults", "transforms", "sinks", "spark")


def document(config: Mapping[str, Raw]) -> dict[str, object]:
    """Sections, with loose options put into their own.

    >>> document({"idle_timeout": "5s", "transforms": {"out": {"max_groups": 1}}})
    {'transforms': {'out': {'max_groups': 1}}, 'defaults': {'idle_timeout': '5s'}}
    """
    sections: dict[str, object] = {name: config[name] for name in SECTIONS if name in config}
    loose = {name: value for name, value in config.items() if name not in SECTIONS}
    given = config.get("defaults", {})
    if loose and isinstance(given, Mapping):
        sections["defaults"] = {**given, **loose}
    return sections
