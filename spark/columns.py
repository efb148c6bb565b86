"""The attributes of the catalogue as Spark columns.

Attribute names contain dots, which Spark reads as a path, so they are always quoted. Expressions
over a hundred attributes are built as SQL text: a call into the JVM for each piece takes seconds.
"""

from collections.abc import Iterable

import pyarrow as pa
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

ARROW_TYPES: dict[Type, pa.DataType] = {
    Type.BOOL: pa.bool_(),
    Type.INT: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.STRING: pa.string(),
    Type.INT_LIST: pa.list_(pa.int64()),
    Type.STRING_LIST: pa.list_(pa.string()),
}

BUILT_INS = ("now.hour", "now.weekday")
PROBLEM = "problem"
RECORD = "record"
ROW_COLUMNS = [
    "day",
    "time",
    "request_id",
    "sample_rate",
    "attributes",
    "builtins",
    PROBLEM,
    RECORD,
]


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


def row_type(attributes: Iterable[Attribute]) -> StructType:
    """A row of the log as it was read: `problem` says why it cannot be used, and `record` has its
    text."""
    builtins = StructType([StructField(name, LongType()) for name in BUILT_INS])
    attributes_are = attributes_type(attributes)
    types = (
        StringType(),
        DoubleType(),
        StringType(),
        DoubleType(),
        attributes_are,
        builtins,
        StringType(),
        StringType(),
    )
    return StructType(list(map(StructField, ROW_COLUMNS, types)))
