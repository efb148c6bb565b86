"""Directories that Spark reads and writes, through Hadoop: a disk, HDFS, an object store alike."""

import re
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

_DAY = re.compile(r"dt=(\d{4}-\d{2}-\d{2})")


class Directory:
    """A directory by its Hadoop path; it need not be there."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._spark = spark
        jvm: Any = spark.sparkContext._jvm
        self._path = jvm.org.apache.hadoop.fs.Path(path)
        self._system = self._path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
        self.path: str = self._system.makeQualified(self._path).toString()

    def child(self, name: str) -> "Directory":
        """A directory in this one."""
        return Directory(self._spark, f"{self.path}/{name}")

    def exists(self) -> bool:
        return bool(self._system.exists(self._path))

    def names(self) -> list[str]:
        """What is in it, in order."""
        if not self.exists():
            return []
        return sorted(each.getPath().getName() for each in self._system.listStatus(self._path))

    def days(self) -> list[str]:
        """The days that it has a partition of."""
        found = (_DAY.fullmatch(name) for name in self.names())
        return [match[1] for match in found if match]

    def size(self) -> int:
        """The bytes in it."""
        return int(self._system.getContentSummary(self._path).getLength())

    def aside(self) -> "Directory":
        """A new name in it that readers pass over, to write to and to `settle` from."""
        return self.child(f"_unfinished-{uuid4().hex}")

    def settle(self, into: "Directory") -> None:
        """Give it another name, in one step; what bears it already is as good, and stays."""
        self._system.mkdirs(into._path.getParent())
        if into.exists() or not self._system.rename(self._path, into._path):
            self.remove()
        # Where somebody else was faster by a moment, Hadoop has moved it into what is there now.
        into.child(self._path.getName()).remove()

    def remove(self) -> None:
        self._system.delete(self._path, True)
