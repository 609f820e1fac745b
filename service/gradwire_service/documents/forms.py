"""JSON schemas of the models, as exact as they are, that generators of clients can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

#: What no document is. (``false`` says the same, but some generators read objects only.)
_NOTHING: dict[str, Any] = {"not": {}}


def any_of(forms: Sequence[JsonSchemaValue]) -> JsonSchemaValue:
    """One of several forms, said so that generators take it for any JSON.

    They fail on unions that contain themselves, and make of others wrappers that nobody wants to
    fill in, but pass over ``if``, which validators hold documents to.
    """
    return {"if": {"anyOf": list(forms)}, "else": _NOTHING}


class Forms(GenerateJsonSchema):
    """What pydantic makes of models, but for what generators of clients stumble on.

    Unions are ``any_of`` their forms. Numbers say how wide they are, else some read 32 bits. No
    member has a default: one that has would be required in what some generators make of it, and
    its description says what is taken without it. No member has a title, by which others would
    name classes, several by one name.
    """

    def get_union_of_schemas(self, schemas: list[JsonSchemaValue]) -> JsonSchemaValue:
        """``any_of``; but null beside one form is what all generators know."""
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
        """The schema of what has a default."""
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never."""
        return False


def _forms(schema: JsonSchemaValue) -> list[JsonSchemaValue]:
    if schema.keys() == {"if", "else"}:
        return list(schema["if"]["anyOf"])
    return [schema]
