"""Python aggregates, as their contract has it: init, accumulate over all rows by event time, finish. Nothing is merged.

The code under test is the users' own, so it is called; what it is given and what it gives back is converted here, from
and to values as the oracle holds them.
"""

import decimal
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from tests.oracle.values import RowError, Value, order
from tidegate.model.policies import Reason
from tidegate.model.types import Array, DataType, Decimal, Map, Scalar, Struct
from tidegate.model.user_aggregates import UserAggregate

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ROUNDING = decimal.Context(prec=200, rounding=decimal.ROUND_HALF_UP)
_BITS = {Scalar.TINYINT: 8, Scalar.SMALLINT: 16, Scalar.INTEGER: 32, Scalar.BIGINT: 64}


def in_python(user: UserAggregate, rows: Sequence[tuple[int, tuple[Value, ...]]]) -> Value:
    """Of rows with their times; raises `RowError` where the user's code does, or gives what is none of its type."""
    present = [(ts, args) for ts, args in rows if None not in args]
    present.sort(key=lambda row: (row[0], *map(_sortable, row[1])))
    own = user.implementation
    try:
        state = own.init()
        for _, args in present:
            given = (_python(arg, kind) for arg, kind in zip(args, user.arguments, strict=True))
            made = own.accumulate(state, *given)
            state = state if made is None else made
        return _sql(own.finish(state), user.returns)
    except Exception:
        raise RowError(Reason.UDF_FAILED) from None


def _sortable(value: Value) -> Value:
    return str(value) if isinstance(value, (dict, list, tuple)) else order(value)


def _python(value: Value, kind: DataType) -> Value:
    match kind:
        case _ if value is None:
            return None
        case Scalar.TIMESTAMP:
            return _EPOCH + value * _MICROSECOND
        case Scalar.DATE:
            return (_EPOCH + timedelta(days=value)).date()
        case Array(element):
            return [_python(item, element) for item in value]
        case Map(key, item_type):
            return [(_python(name, key), _python(item, item_type)) for name, item in value]
        case Struct(fields):
            return {name: _python(value[name], part) for name, part in fields}
        case _:
            return value


def _sql(value: Value, kind: DataType) -> Value:
    match kind:
        case _ if value is None:
            return None
        case Array(element):
            return [_sql(item, element) for item in _checked(value, list, tuple)]
        case Map(key, item_type):
            items = _checked(value, dict).items()
            return [(_sql(name, key), _sql(item, item_type)) for name, item in items]
        case Struct(fields):
            assert set(_checked(value, dict)) <= {name for name, _ in fields}
            return {name: _sql(value.get(name), part) for name, part in fields}
        case Decimal(precision, scale):
            return _rounded(_checked(value, int, decimal.Decimal), precision, scale)
        case _:
            return _scalar(value, kind)


_KINDS: dict[DataType, tuple[type, ...]] = {
    Scalar.BOOLEAN: (bool,),
    **dict.fromkeys(_BITS, (int,)),
    Scalar.REAL: (int, float, decimal.Decimal),
    Scalar.DOUBLE: (int, float, decimal.Decimal),
    Scalar.VARCHAR: (str,),
    Scalar.BINARY: (bytes,),
    Scalar.DATE: (date,),
    Scalar.TIMESTAMP: (datetime,),
}


def _checked(value: Value, *kinds: type) -> Value:
    """True is no int here, and an instant no date."""
    if type(value) not in kinds:
        raise TypeError(value)
    return value


def _scalar(value: Value, kind: DataType) -> Value:
    value = _checked(value, *_KINDS[kind])
    match kind:
        case Scalar.REAL | Scalar.DOUBLE:
            return float(value)
        case Scalar.DATE:
            return value.toordinal() - _EPOCH.toordinal()
        case Scalar.TIMESTAMP:
            aware = value if value.tzinfo else value.replace(tzinfo=UTC)
            return (aware - _EPOCH) // _MICROSECOND
        case Scalar() if (
            kind in _BITS and not 0 <= value + 2 ** (_BITS[kind] - 1) < 2 ** _BITS[kind]
        ):
            raise OverflowError(value)
        case _:
            return value


def _rounded(value: int | decimal.Decimal, precision: int, scale: int) -> decimal.Decimal:
    made = decimal.Decimal(value).quantize(decimal.Decimal(1).scaleb(-scale), context=_ROUNDING)
    if made.copy_abs() >= decimal.Decimal(10) ** (precision - scale):
        raise OverflowError(value)
    return made
