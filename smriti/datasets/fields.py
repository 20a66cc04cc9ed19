"""The shapes of rows as a set gives them, and what is said of a row that has another one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from smriti.errors import UsageError


class Given(BaseModel):
    """A part of a data set: no type is converted into another, and what nobody asked for is not looked at."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    @classmethod
    def read(cls, value: object, row: Place) -> Self:
        """Read a parsed JSON value; UsageError with the first field that has another shape."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            errors = error.errors(include_url=False)
            field = _path(value, errors[0]["loc"])
            found = "nothing" if errors[0]["type"] == "missing" else _shown(errors[0]["input"])
            # A field that may be of several kinds has an error for each of them.
            kinds = [_expected(one["msg"]) for one in errors if _path(value, one["loc"]) == field]
            raise row.bad(field, found, " or ".join(dict.fromkeys(kinds))) from None


class Place:
    """Where a row stands: the file, and the number of the row with whatever name it has."""

    def __init__(self, path: Path, row: str, outer: str = "") -> None:
        self._path = path
        self._row = row
        self._outer = outer

    def within(self, field: str) -> Place:
        """Return the place of a field that holds fields of its own."""
        return Place(self._path, self._row, field)

    def bad(self, field: str, found: str, expected: str) -> UsageError:
        """Return the error to raise about a field of the row."""
        steps = ".".join(step for step in (self._outer, field) if step)
        where = ", ".join(part for part in (self._row, f"field {steps}" if steps else "") if part) or "the whole"
        return UsageError(
            f"data file {str(self._path)!r} cannot be used: {where}: found {found}; expected {expected}. "
            "Fetch or export the file again, or mend that row"
        )


def shown(value: object) -> str:
    """Show a value of the file as it would be written in Python, cut to what fits a line."""
    return _shown(value)


def _path(value: object, loc: tuple[int | str, ...]) -> str:
    """Write the steps to a field as `haystack_sessions[3][0].content`; steps into a union are left out."""
    written = ""
    for step in loc:
        if isinstance(step, int):
            written += f"[{step}]"
            value = value[step] if isinstance(value, list) and step < len(value) else None
        elif isinstance(value, Mapping):
            written += f".{step}" if written else step
            value = value.get(step)
    return written


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]} … ({type(value).__name__} of {len(value):,})"


def _expected(message: str) -> str:
    return {"Field required": "a value"}.get(message, message.removeprefix("Input should be "))
