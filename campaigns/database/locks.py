"""The numbers of the advisory locks. Postgres has one number space for the whole database, so each
use has its own number, and all are here."""

from enum import IntEnum, unique


@unique
class AdvisoryLock(IntEnum):
    """Who waits for whom: only holders of the same number."""

    RELAY = 0x63_6F_70_73_65  # "copse"
    MIGRATIONS = 0x63_6F_70_73_66
