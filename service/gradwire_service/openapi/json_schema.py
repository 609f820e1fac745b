"""JSON schemas of the models: exact, and readable by generators of clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

#: Matches nothing, as ``false`` does; but some generators read objects only.
_NOTHING: dict[str, Any] = {"not": {}}


def any_of(forms: Sequence[JsonSchemaValue]) -> JsonSchemaValue:
    """One of several forms, written so that generators read it as any JSON.

    They fail on recursive unions, and make clumsy wrappers of others; but they ignore ``if``, which
    validators check.
    """
    return {"if": {"anyOf": list(forms)}, "else": _NOTHING}


class Described(BaseModel):
    """A document that is described, never read: nothing is built of it before somebody asks."""

    model_config = ConfigDict(defer_build=True)


class Forms(GenerateJsonSchema):
    """Pydantic's schemas without what generators of clients cannot read.

    Unions are ``any_of`` their forms. Numbers have formats, else some read 32 bits. No member has a
    default: some generators would require it; its description says what is assumed without it. No
    member has a title: others would name classes by it, several by one name.
    """

    def get_union_of_schemas(self, schemas: list[JsonSchemaValue]) -> JsonSchemaValue:
        """``any_of``; but all generators know null beside one form."""
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
        """The schema without its default."""
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never."""
        return False


def _forms(schema: JsonSchemaValue) -> list[JsonSchemaValue]:
    if schema.keys() == {"if", "else"}:
        return list(schema["if"]["anyOf"])
    return [schema]
