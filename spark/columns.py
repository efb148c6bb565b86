"""The attributes of the catalogue as Spark columns.

Attribute names contain dots, which Spark reads as a path, so they are always quoted. Expressions
over a hundred attributes are built as SQL text: a call into the JVM for each piece takes seconds.
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


def column_sql(attribute: str) -> str:
    """The SQL that reads an attribute of a row.

    >>> column_sql("device.type")
    'attributes.`device.type`'
    """
    return f"attributes.`{attribute}`"


def counted_attributes(schema: Schema) -> list[Attribute]:
    """The attributes that statistics cover: those of the catalogue, without the built-in ones and
    without any that identifies a person or a device, whatever wrote the log."""
    permits = Denylist().permits
    return [each for each in schema if each.name not in BUILT_IN_NAMES and permits(each.name)]


def attributes_type(attributes: Iterable[Attribute]) -> StructType:
    """The type of a row's `attributes`."""
    return StructType([StructField(each.name, TYPES[each.type]) for each in attributes])
