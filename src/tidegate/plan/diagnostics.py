"""Collects refusals, so that a person hears of all of them at once."""

from types import TracebackType

from tidegate.errors import TidegateError


class Diagnostics:
    """Refusals in the order in which they were met."""

    def __init__(self) -> None:
        self.errors: list[TidegateError] = []

    def catching(self) -> "_Catching":
        """Keep a refusal raised inside the block, and go on behind it."""
        return _Catching(self.errors)

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


class _Catching:
    def __init__(self, errors: list[TidegateError]) -> None:
        self._errors = errors

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        refusal: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if not isinstance(refusal, TidegateError):
            return False
        self._errors.append(refusal)
        return True


class Refused(Exception):
    """Carries all refusals of a statement to whoever reports them."""

    def __init__(self, errors: list[TidegateError]) -> None:
        super().__init__(errors)
        self.errors = errors
