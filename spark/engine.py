"""The index that the jobs match with: the native core, as the service does."""

from index import Index, Limits, Schema
from index.backends.native import native_module
from spark.errors import WrongArguments


def check_engine() -> None:
    """Raise `WrongArguments` where the native core is missing: without it a job would take many
    times as long and skip a gate, silently."""
    if native_module() is None:
        raise WrongArguments(
            "the native core of the index cannot be imported here. Install copse[spark] with it on "
            "the driver and the workers; packages shipped with --py-files hide it"
        )


def native_index(schema: Schema, limits: Limits) -> Index:
    """An index on the native core, also in a worker of Spark."""
    check_engine()
    return Index(schema, engine="native", limits=limits)
