"""How an attribute of the catalogue is called in Spark, and which type it has.

Names have dots, which Spark takes for a path, so a name is always quoted. What is the same for a
hundred attributes is put together as SQL: a call into the JVM for each piece takes seconds.
"""

from collections.abc import Iterable

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from campaigns.catalogue.model import BUILT_IN_NAMES
from campaigns.catalogue.privacy import Denylist
from index import Attribute, Schema
from index.language import Type

TYPES: dict[Type, DataType] = {
    Type.BOOL: BooleanType(),
    Type.INT: LongType(),
    Type.FLOAT: DoubleType(),
    Type.STRING: StringType(),
    Type.INT_LIST: ArrayType(LongType()),
    Type.STRING_LIST: ArrayType(StringType()),
}


def field(attribute: str) -> str:
    """The SQL of an attribute of a row.

    >>> field("device.type")
    'attributes.`device.type`'
    """
    return f"attributes.`{attribute}`"


def counted(schema: Schema) -> list[Attribute]:
    """The attributes that statistics are about: those of the catalogue, not the built-in ones, and
    none that names a person or a device, whoever wrote the log."""
    permits = Denylist().permits
    return [each for each in schema if each.name not in BUILT_IN_NAMES and permits(each.name)]


def struct_of(attributes: Iterable[Attribute]) -> StructType:
    """The object of attributes, as it is in the log."""
    return StructType([StructField(each.name, TYPES[each.type]) for each in attributes])


def literal(value: object) -> str:
    """The SQL of a value.

    >>> literal("it's"), literal(True), literal(7), literal(0.5)
    ("'it\\\\'s'", 'true', '7L', '0.5D')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value}L"
    if isinstance(value, float):
        return f"{value!r}D"
    escaped = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
