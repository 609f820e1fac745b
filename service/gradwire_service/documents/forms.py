"""JSON schemas of the models, exact, in a form that generators of clients can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

#: The schema that no document fits, as an object, which all generators read.
_NOTHING: dict[str, Any] = {"not": {}}


def any_of(forms: Sequence[JsonSchemaValue]) -> JsonSchemaValue:
    """One of several forms, in a schema that generators read as any JSON.

    They fail on unions that contain themselves and generate clumsy wrappers for others, but they
    skip ``if``, which validators check.
    """
    return {"if": {"anyOf": list(forms)}, "else": _NOTHING}


class Forms(GenerateJsonSchema):
    """Pydantic's schemas of models, without the parts that generators of clients fail on.

    Unions are ``any_of`` their forms. Numbers have a width, since some generators assume 32 bits.
    Members have no default, since some generators would require them, and no title, since others
    would name several classes by one title.
    """

    def get_union_of_schemas(self, schemas: list[JsonSchemaValue]) -> JsonSchemaValue:
        """``any_of``; but a form or null is a union that all generators know."""
        forms = [form for schema in schemas for form in _forms(schema)]
        null = [form for form in forms if form == {"type": "null"}]
        if len(forms) == 2 and null:
            return {"anyOf": forms}
        return any_of(forms)

    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:
        """Of 64 bits."""
        return super().int_schema(schema) | {"format": "int64"}

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        """Of 64 bits."""
        return super().float_schema(schema) | {"format": "double"}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """The schema without the default."""
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never."""
        return False


def _forms(schema: JsonSchemaValue) -> list[JsonSchemaValue]:
    if schema.keys() == {"if", "else"}:
        return list(schema["if"]["anyOf"])
    return [schema]
