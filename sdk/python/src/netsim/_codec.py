"""Between JSON and the classes of the contract: exact decimals, times, and tolerance for what is new."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import fields
from decimal import Decimal
from functools import cache
from types import UnionType
from typing import Any, ClassVar, Self, TypeVar, Union, get_args, get_origin, get_type_hints

import httpx2

from .errors import UnexpectedResponse

T = TypeVar("T")
Decode = Callable[[Any], Any]


class Model:
    """A resource of the contract. Members that this release does not know are left out."""

    _wire: ClassVar[Mapping[str, str]] = {}  # the JSON names of the members that have another one here

    @property
    def http(self) -> httpx2.Response:
        """The raw response that this came with. Only what a method of the client returned has one."""
        response: httpx2.Response | None = self.__dict__.get("_http")
        if response is None:
            raise AttributeError(f"this {type(self).__name__} did not come from the service by itself")
        return response

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Self:
        """Reads a JSON object. UnexpectedResponse if a required member is missing or malformed."""
        try:
            return cls(**{
                name: value[wire] if decode is None else decode(value[wire])
                for name, wire, decode in _members(cls)
                if wire in value
            })
        except (TypeError, ValueError, ArithmeticError) as e:
            raise UnexpectedResponse(f"not a {cls.__name__}: {e}") from e

    def to_dict(self) -> dict[str, Any]:
        """The JSON object; members that are None are left out."""
        return {
            wire: encode(member)
            for name, wire, _ in _members(type(self))
            if (member := getattr(self, name)) is not None
        }


def encode(value: Any) -> Any:
    """The JSON value of a model, of plain JSON, or of a mixture of both."""
    match value:
        case Model():
            return value.to_dict()
        case Decimal():
            return format(value, "f")
        case dt.datetime():
            if value.tzinfo is None:
                raise ValueError(f"the time {value.isoformat()} has no time zone")
            return value.isoformat()
        case dt.date():
            return value.isoformat()
        case Mapping():
            return {k: encode(v) for k, v in value.items()}
        case list() | tuple():
            return [encode(v) for v in value]
    return value


def _inspect(cls: Any) -> list[tuple[str, str, Decode | None]]:
    hints = get_type_hints(cls)
    return [(f.name, cls._wire.get(f.name, f.name), _decoder(hints[f.name])) for f in fields(cls)]


_members: Callable[[Any], list[tuple[str, str, Decode | None]]] = cache(_inspect)
"""The members of a model: the name here, the name in JSON, and what reads it."""


def decode(kind: type[T], value: Any) -> T:
    """Reads a JSON value as a type of the contract."""
    read = _decoder(kind)
    result: T = read(value) if read else value
    return result


def _decoder(hint: Any) -> Decode | None:
    """What reads a JSON value as the hint says; None if it is the value already."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        some = next((d for d in map(_decoder, args) if d), None)
        return some and (lambda v: None if v is None else some(v))
    if origin in (list, dict):
        each = _decoder(args[-1])
        if each is None:
            return None
        return (lambda v: [each(x) for x in v]) if origin is list else (lambda v: {k: each(x) for k, x in v.items()})
    if hint is dt.datetime:
        return dt.datetime.fromisoformat
    if hint is dt.date:
        return dt.date.fromisoformat
    if hint is Decimal:
        return Decimal
    return hint.from_dict if isinstance(hint, type) and issubclass(hint, Model) else None
