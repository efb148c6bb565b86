"""The figures of the nightly job by DuckDB, for comparison: `python -m bench.nightly.duck`.

    python -m bench.nightly.duck FORMAT PATTERN DATABASE OUT    figures of the files, as JSON

It computes what `spark/statistics` computes: presence, distinct values, common values and
histograms of every attribute, and a sample. It does not validate: it trusts that every line is
good, has no weights below one request, and no attribute that must not be read.
"""

import json
import sys
from pathlib import Path
from typing import Any

import duckdb

from campaigns.statistics.document import share
from index import Attribute, Schema
from index.language import Type
from spark import database
from spark.columns import counted_attributes
from spark.statistics.options import Options
from spark.weights import UNIT

TYPES = {
    Type.BOOL: "BOOLEAN",
    Type.INT: "BIGINT",
    Type.FLOAT: "DOUBLE",
    Type.STRING: "VARCHAR",
    Type.INT_LIST: "BIGINT[]",
    Type.STRING_LIST: "VARCHAR[]",
    Type.VERSION: "VARCHAR",
    Type.IP: "VARCHAR",
    Type.POINT: "DOUBLE[]",
}
_NUMBERS = (Type.INT, Type.FLOAT)


def figures(format: str, pattern: str, schema: Schema, options: Options) -> dict[str, Any]:
    """The figures of the files that fit a pattern."""
    attributes = counted_attributes(schema)
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TEMP TABLE log AS SELECT request_id, attributes, "
            f"CAST(floor({UNIT} / sample_rate + 0.5) AS BIGINT) AS weight "
            f"FROM {_source(format, pattern, attributes)}"
        )
        rows, whole = connection.execute("SELECT count(*), sum(weight) FROM log").fetchall()[0]
        found = {each.name: _attribute(connection, each, whole, options) for each in attributes}
        sample = connection.execute(
            "SELECT sha256(request_id) AS lot, attributes FROM log "
            f"ORDER BY lot LIMIT {options.sample}"
        ).fetchall()
    return {"rows": rows, "attributes": found, "lots": [row[0] for row in sample]}


def _source(format: str, pattern: str, attributes: list[Attribute]) -> str:
    if format == "parquet":
        return f"read_parquet('{pattern}')"
    fields = ", ".join(f'"{each.name}" {TYPES[each.type]}' for each in attributes)
    columns = f"request_id: 'VARCHAR', sample_rate: 'DOUBLE', attributes: 'STRUCT({fields})'"
    return f"read_json('{pattern}', format='newline_delimited', columns={{{columns}}})"


def _attribute(
    connection: duckdb.DuckDBPyConnection, attribute: Attribute, whole: int, options: Options
) -> dict[str, Any]:
    column = f'attributes."{attribute.name}"'
    value = f"unnest(list_distinct({column}))" if attribute.type.is_list else column
    if attribute.type is Type.POINT:  # the job counts that there is one
        value = "NULL"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE counted AS SELECT value, sum(weight)::BIGINT AS weight, "
        "row_number() OVER (ORDER BY sum(weight) DESC, value) AS rank "
        f"FROM (SELECT {value} AS value, weight FROM log) WHERE value IS NOT NULL GROUP BY value"
    )
    present = f"SELECT sum(weight) FROM log WHERE {column} IS NOT NULL"
    common = f"SELECT value, weight FROM counted WHERE rank <= {options.values} ORDER BY rank"
    found: dict[str, Any] = {
        "presence": share(int(_one(connection, present) or 0), whole),
        "distinct": _one(connection, "SELECT count(*) FROM counted"),
        "common": [[v, share(w, whole)] for v, w in connection.execute(common).fetchall()],
    }
    if attribute.type in _NUMBERS:
        ranges = connection.execute(
            "WITH rest AS (SELECT value, weight, "
            "sum(weight) OVER (ORDER BY value ROWS UNBOUNDED PRECEDING) - weight AS before, "
            f"sum(weight) OVER () AS total FROM counted WHERE rank > {options.values}) "
            f"SELECT min(value), max(value), sum(weight)::BIGINT FROM rest "
            f"GROUP BY before * {options.ranges} // total ORDER BY 1"
        ).fetchall()
        found["histogram"] = [[low, high, share(weight, whole)] for low, high, weight in ranges]
    return found


def _one(connection: duckdb.DuckDBPyConnection, query: str) -> Any:
    return connection.execute(query).fetchall()[0][0]


if __name__ == "__main__":
    _format, _pattern, _database, _out = sys.argv[1:]
    _schema = database.load_catalogue(_database)
    Path(_out).write_text(json.dumps(figures(_format, _pattern, _schema, Options())))
