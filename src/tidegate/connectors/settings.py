"""Options of a definition, with the defaults that `model/connectors.py` has for them."""

from collections.abc import Mapping
from dataclasses import dataclass

from tidegate import errors
from tidegate.model.connectors import find_connector
from tidegate.model.options import OptionValue


@dataclass(frozen=True, slots=True)
class Settings:
    """What is set for one source or sink. Values are in normal form: durations in µs."""

    connector: str
    options: Mapping[str, OptionValue]

    def get(self, name: str) -> OptionValue | None:
        connector = find_connector(self.connector)
        spec = connector.option(name) if connector else None
        assert spec is not None, name
        if name in self.options:
            return self.options[name]
        return None if spec.default is None else spec.read(spec.default)

    def text(self, name: str) -> str | None:
        value = self.get(name)
        return None if value is None else str(value)

    def number(self, name: str) -> int | None:
        value = self.get(name)
        return None if value is None else int(value)

    def flag(self, name: str) -> bool | None:
        value = self.get(name)
        return None if value is None else bool(value)

    def refusal(self, name: str, problem: str) -> errors.TidegateError:
        return errors.bad_option_value(name=name, value=repr(self.get(name)), problem=problem)
