"""Lists, and tables of rows that pandas, polars and pyarrow take."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, Generic, TypeVar

from ._codec import Model

Item = TypeVar("Item")
Page = TypeVar("Page", bound=Model)


class Table:
    """Rows with named columns. Members of members are columns with a dot, such as ``figures.ranks``."""

    def rows(self) -> Iterator[dict[str, Any]]:
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; needs pandas."""
        return _library("pandas").DataFrame.from_records(list(self.rows()))

    def to_polars(self) -> Any:
        """A polars.DataFrame; needs polars."""
        return _library("polars").from_dicts(list(self.rows()), infer_schema_length=None)

    def to_arrow(self) -> Any:
        """A pyarrow.Table; needs pyarrow."""
        rows = list(self.rows())
        columns = {name: None for row in rows for name in row}
        return _library("pyarrow").table({name: [row.get(name) for row in rows] for name in columns})


class Paged(Table, Generic[Item, Page]):
    """A list of the service. Iterating gives its items and asks for a page when the one before is used up."""

    def __init__(self, fetch: Callable[[str | None], Page], items: str) -> None:
        self._fetch, self._items = fetch, items

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            yield from getattr(page, self._items)

    def pages(self) -> Iterator[Page]:
        """The pages as they come, with what they have beside the items."""
        cursor = None
        while True:
            page: Any = self._fetch(cursor)
            yield page
            cursor = page.pagination.next_cursor
            if not page.pagination.has_more or not cursor:
                return

    def page(self) -> Page:
        """The first page."""
        return self._fetch(None)

    def rows(self) -> Iterator[dict[str, Any]]:
        return (dict(_flat(item)) for item in self)


class Rows(Table):
    """Rows that are read when they are asked for."""

    def __init__(self, read: Callable[[], Iterable[dict[str, Any]]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._read())

    def rows(self) -> Iterator[dict[str, Any]]:
        return iter(self)


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Model):
        value = {f.name: getattr(value, f.name) for f in fields(value)}  # type: ignore[arg-type]
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from _flat(member, f"{name}.{key}" if name else key)
    else:
        yield name, [dict(_flat(v)) if isinstance(v, Model) else v for v in value] if isinstance(value, list) else value


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as e:
        raise ImportError(f"this needs {name}; install it, such as with: pip install {name}") from e
