"""Collects refusals, so that a person hears of all of them at once."""

from collections.abc import Iterator
from contextlib import contextmanager

from tidegate.errors import TidegateError


class Diagnostics:
    """Refusals in the order in which they were met."""

    def __init__(self) -> None:
        self.errors: list[TidegateError] = []

    @contextmanager
    def catching(self) -> Iterator[None]:
        """Keep a refusal raised inside, and go on behind the block."""
        try:
            yield
        except TidegateError as refusal:
            self.errors.append(refusal)

    def drop_repeated(self) -> None:
        """Keep one refusal per place and kind: what `*` stands for is one mistake, not ten."""
        kept = {
            (error.kind.code, error.line, error.column): error for error in reversed(self.errors)
        }
        self.errors[:] = reversed(kept.values())

    def raise_first(self) -> None:
        """Give up where going on would only produce errors that follow from the first."""
        if self.errors:
            raise Refused(self.errors)


class Refused(Exception):
    """Carries all refusals of a statement to whoever reports them."""

    def __init__(self, errors: list[TidegateError]) -> None:
        super().__init__(errors)
        self.errors = errors
