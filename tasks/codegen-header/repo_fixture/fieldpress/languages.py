"""The renderers: each takes a schema and gives the text of a file."""

from __future__ import annotations

import re

from fieldpress.schema import Schema

PYTHON = {"text": "str", "integer": "int", "decimal": "Decimal", "boolean": "bool", "date": "date"}
TYPESCRIPT = {"text": "string", "integer": "number", "decimal": "string", "boolean": "boolean", "date": "string"}
SQL = {"text": "text", "integer": "bigint", "decimal": "numeric(14, 2)", "boolean": "boolean", "date": "date"}


def python(schema: Schema) -> str:
    """Give a module with a frozen dataclass; decimals and dates are imported only where they are used."""
    used = {field.type for field in schema.fields}
    lines = [f'"""{schema.about}"""', "", "from dataclasses import dataclass"]
    if "date" in used:
        lines.append("from datetime import date")
    if "decimal" in used:
        lines.append("from decimal import Decimal")
    lines += ["", "", "@dataclass(frozen=True, kw_only=True)", f"class {schema.name}:"]
    for field in schema.fields:
        lines.append(f"    {field.name}: {PYTHON[field.type]}" + (" | None = None" if field.optional else ""))
    return "\n".join(lines) + "\n"


def typescript(schema: Schema) -> str:
    """Give an interface; decimals and dates travel as strings, lest they lose digits or change the day."""
    lines = [f"/** {schema.about} */", f"export interface {schema.name} {{"]
    for field in schema.fields:
        lines.append(f"  {_camel(field.name)}{'?' if field.optional else ''}: {TYPESCRIPT[field.type]};")
    return "\n".join([*lines, "}"]) + "\n"


def sql(schema: Schema) -> str:
    """Give a table whose comment is what the record is about."""
    table = re.sub(r"(?<!^)(?=[A-Z])", "_", schema.name).lower()
    columns = [f"  {field.name} {SQL[field.type]}" + ("" if field.optional else " not null") for field in schema.fields]
    about = schema.about.replace("'", "''")
    return f"create table {table} (\n" + ",\n".join(columns) + f"\n);\ncomment on table {table} is '{about}';\n"


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)


RENDERERS = {"python": python, "typescript": typescript, "sql": sql}
