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
from spark.weights import WEIGHT

TYPES: dict[Type, DataType] = {
    Type.BOOL: BooleanType(),
    Type.INT: LongType(),
    Type.FLOAT: DoubleType(),
    Type.STRING: StringType(),
    Type.INT_LIST: ArrayType(LongType()),
    Type.STRING_LIST: ArrayType(StringType()),
    Type.VERSION: StringType(),
    Type.IP: StringType(),
    Type.POINT: ArrayType(DoubleType()),
}

ARROW_TYPES: dict[Type, pa.DataType] = {
    Type.BOOL: pa.bool_(),
    Type.INT: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.STRING: pa.string(),
    Type.INT_LIST: pa.list_(pa.int64()),
    Type.STRING_LIST: pa.list_(pa.string()),
    Type.VERSION: pa.string(),
    Type.IP: pa.string(),
    Type.POINT: pa.list_(pa.float64()),
}

HOURS, WEEKDAYS = range(24), range(1, 8)
BUILT_INS = {"now.hour": HOURS, "now.weekday": WEEKDAYS}
"""The built-in attributes that a row may have, and their values."""

DAY = "day"
LINE = "line"
PROBLEM = "problem"
RECORD = "record"
TYPED_COLUMNS = [DAY, "time", "request_id", "sample_rate", "attributes", "builtins"]
CHECKED_COLUMNS = [*TYPED_COLUMNS, WEIGHT, PROBLEM]


def counted_attributes(schema: Schema) -> list[Attribute]:
    """The attributes that statistics cover: those of the catalogue, without the built-in ones and
    without any that identifies a person or a device, whatever wrote the log."""
    permits = Denylist().permits
    return [each for each in schema if each.name not in BUILT_IN_NAMES and permits(each.name)]


def attributes_type(attributes: Iterable[Attribute]) -> StructType:
    """The type of a row's `attributes`."""
    return StructType([StructField(each.name, TYPES[each.type]) for each in attributes])


def typed_row(attributes: Iterable[Attribute]) -> StructType:
    """A row of a log that has typed columns."""
    builtins = StructType([StructField(name, LongType()) for name in BUILT_INS])
    types = (
        StringType(),
        DoubleType(),
        StringType(),
        DoubleType(),
        attributes_type(attributes),
        builtins,
    )
    return StructType(list(map(StructField, TYPED_COLUMNS, types)))


def checked_row(attributes: Iterable[Attribute]) -> StructType:
    """A row that has been judged: a good one has its `weight`, the others only their `problem`."""
    fields = [StructField(WEIGHT, LongType()), StructField(PROBLEM, StringType())]
    return StructType([*typed_row(attributes).fields, *fields])
