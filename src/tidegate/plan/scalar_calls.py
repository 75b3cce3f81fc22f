"""Scalar calls: resolved against the catalogue, arguments converted, constants checked.

Special forms such as EXTRACT(f FROM x) are ordinary calls in other words, and become them here.
"""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from tidegate import errors
from tidegate.model.expressions import Call, Expr, Literal, text
from tidegate.model.types import DataType, Scalar, Struct
from tidegate.plan.coercion import coerce
from tidegate.plan.expressions import (
    Context,
    bind,
    unsupported,
)
from tidegate.sql.functions.catalogue import find_function
from tidegate.sql.functions.signature import Function, Overload


def special_form(node: exp.Expression) -> tuple[str, list[exp.Expression]] | None:
    """The ordinary call that a special form means."""
    match node:
        case exp.Extract():
            return f"extract_{_part(node.this.name.lower())}", [node.expression]
        case exp.Trim():
            side = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(
                str(node.args.get("position") or "").upper(), "trim"
            )
            return side, [node.this, *([node.expression] if node.expression else [])]
        case exp.StrPosition():
            return "strpos", [node.this, node.args["substr"]]
        case exp.Substring():
            return "substring", [
                part
                for part in (node.this, node.args.get("start"), node.args.get("length"))
                if part is not None
            ]
        case exp.Array():
            return "make_array", list(node.expressions)
        case _:
            return None


_PARTS = {
    "msec": "millisecond",
    "usec": "microsecond",
    "weekday": "dow",
    "dayofweek": "dow",
    "dayofyear": "doy",
}


def _part(name: str) -> str:
    """The name of a part in the singular, and in the one word for it."""
    known = _PARTS.get(name.removesuffix("s"), name.removesuffix("s"))
    return known if find_function(f"extract_{known}") else name


def bind_function(
    function: Function, node: exp.Expression, args: Sequence[exp.Expression], context: Context
) -> Expr:
    """A scalar call: arguments bound, converted, and checked where they must be constants."""
    bound = [_argument(function, place, arg, context) for place, arg in enumerate(args)]
    if function.name == "named_struct":
        return _struct(node, args, bound, context)
    resolved = function.resolve([arg.type for arg in bound])
    if resolved is None:
        raise _misfit(function, node, args, bound, context)
    overload, targets = resolved
    converted = tuple(coerce(arg, target) for arg, target in zip(bound, targets, strict=True))
    checked = tuple(
        _constant(overload, place, arg, args[place], node, context)
        for place, arg in enumerate(converted)
    )
    return Call(function.name, checked, overload.result(targets))


def _struct(
    node: exp.Expression, written: Sequence[exp.Expression], bound: Sequence[Expr], context: Context
) -> Expr:
    """Its type is made of the names, which only the binder knows."""
    names: list[str] = []
    for name, place in zip(bound[::2], written[::2], strict=True):
        if not isinstance(name, Literal) or not isinstance(name.value, str):
            raise errors.argument_not_constant(
                context.at(place),
                argument="the name of a field",
                function=name_of(node),
                expected="text",
            )
        if name.value.lower() in (other.lower() for other in names):
            raise errors.duplicate_name(context.at(place), what="field", name=name.value)
        names.append(name.value)
    if not names or len(bound) % 2:
        raise errors.wrong_arity(
            context.at_head(node),
            function=name_of(node),
            expected="a name before each value",
            got=len(bound),
            form="named_struct('a', x, 'b', y)",
        )
    return struct_of(dict(zip(names, bound[1::2], strict=True)))


def struct_of(fields: Mapping[str, Expr]) -> Call:
    """A STRUCT of these values; one without a type is a text that is not there."""
    typed = {
        name: coerce(value, Scalar.VARCHAR) if value.type is Scalar.NULL else value
        for name, value in fields.items()
    }
    args = tuple(part for name, value in typed.items() for part in (text(name), value))
    return Call("named_struct", args, Struct(tuple((name, v.type) for name, v in typed.items())))


def _argument(function: Function, place: int, arg: exp.Expression, context: Context) -> Expr:
    """Keywords such as SECOND in TIMESTAMPDIFF(SECOND, a, b) are the literals that they name."""
    if isinstance(arg, (exp.Star, exp.Kwarg, exp.PropertyEQ, exp.Distinct)):
        raise unsupported(arg, context, f"this argument of {function.name.upper()}")
    word = (
        arg.name.lower()
        if isinstance(arg, (exp.Column, exp.Var)) and not arg.args.get("table")
        else ""
    )
    if word and any(word in _choices(overload, place) for overload in function.overloads):
        return text(word)
    return bind(arg, context)


def _choices(overload: Overload, place: int) -> tuple[str, ...]:
    return overload.params[place].choices if place < len(overload.params) else ()


def _constant(
    overload: Overload,
    place: int,
    arg: Expr,
    written: exp.Expression,
    node: exp.Expression,
    context: Context,
) -> Expr:
    param = overload.params[min(place, len(overload.params) - 1)]
    if not param.literal:
        return arg
    name = name_of(node)
    if not isinstance(arg, Literal):
        raise errors.argument_not_constant(
            context.at(written),
            argument=f"argument {place + 1}",
            function=name,
            expected=param.label,
        )
    if param.choices:
        return _chosen(param.choices, arg, written, node, context)
    problem = param.problem(arg.value)
    if problem:
        raise errors.argument_not_constant(
            context.at(written),
            argument=f"argument {place + 1}",
            function=name,
            expected=f"{param.label}: {problem}",
        )
    return arg


def _chosen(
    choices: tuple[str, ...],
    arg: Literal,
    written: exp.Expression,
    node: exp.Expression,
    context: Context,
) -> Expr:
    value = str(arg.value).lower()
    for candidate in (value, value.removesuffix("s")):
        if candidate in choices:
            return text(candidate)
    hint = errors.nearest(value, choices, otherwise=f"possible are {', '.join(choices)}")
    raise errors.bad_literal(
        context.at(written), text=repr(arg.value), type=f"argument of {name_of(node)}", form=hint
    )


def name_of(node: exp.Expression) -> str:
    return node.name if isinstance(node, exp.Anonymous) else node.key.upper()


def _misfit(
    function: Function,
    node: exp.Expression,
    args: Sequence[exp.Expression],
    bound: Sequence[Expr],
    context: Context,
) -> errors.TidegateError:
    name = name_of(node)
    fitting = [
        overload
        for overload in function.overloads
        if len(overload.params) == len(bound)
        or (overload.variadic and len(bound) >= len(overload.params))
    ]
    if not fitting:
        counts = " or ".join(map(str, function.arities))
        expected = f"{counts} argument{'' if counts == '1' else 's'}"
        return errors.wrong_arity(
            context.at_head(node),
            function=name,
            expected=expected,
            got=len(bound),
            form=function.example,
        )
    return wrong_type(
        name,
        [overload.params for overload in fitting],
        args,
        [expr.type for expr in bound],
        context,
    )


def wrong_type(
    name: str,
    params: Sequence[Sequence[object]],
    args: Sequence[exp.Expression],
    given: Sequence[DataType],
    context: Context,
) -> errors.TidegateError:
    """Points at the first argument that no way of calling the function takes."""
    for place, kind in enumerate(given):
        possible = [signature[min(place, len(signature) - 1)] for signature in params]
        if not any(param.accepts(kind) is not None for param in possible):  # type: ignore[attr-defined]
            expected = " or ".join(dict.fromkeys(param.label for param in possible))  # type: ignore[attr-defined]
            return errors.wrong_argument_type(
                context.at(args[place]),
                function=name,
                got=kind,
                expected=expected,
                cast="convert it with CAST, or TRY_CAST where values may be bad",
            )
    types = " and ".join(map(str, given))
    return errors.no_common_type(context.at(args[-1]), what=f"the arguments of {name}", types=types)
