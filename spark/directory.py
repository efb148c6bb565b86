"""Directories on any file system that Hadoop knows: a disk, HDFS, an object store."""

import re
from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from spark.errors import JobError, WrongArguments
from spark.session import is_remote

_DAY = re.compile(r"dt=(\d{4}-\d{2}-\d{2})")
_REPLACED = "_replaced-"
"""Before the name of a child that is being replaced; readers skip it."""


class Directory:
    """A directory by its Hadoop path; it may not exist yet."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        if is_remote(spark):
            raise WrongArguments(
                f"{path}: Spark Connect has no access to directories; "
                "read the log with --table, or run the job with a driver of its own (spark-submit)"
            )
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
        """The names of its entries, sorted."""
        if not self.exists():
            return []
        return sorted(each.getPath().getName() for each in self._system.listStatus(self._path))

    @property
    def is_local(self) -> bool:
        """Whether it is on a disk, and not on a file system that only Hadoop reads."""
        return self.path.startswith("file:")

    def local_files(self) -> list[str]:
        """The files in it and below that readers do not skip: their paths on the disk, sorted."""
        found, below = [], self._system.listFiles(self._path, True)
        while below.hasNext():
            path = below.next().getPath().toString()
            names = path.removeprefix(f"{self.path}/").split("/")
            if not any(name.startswith(("_", ".")) for name in names):
                found.append(path.removeprefix("file:"))
        return sorted(found)

    def days(self) -> list[str]:
        """The days that have a partition here."""
        found = (_DAY.fullmatch(name) for name in self.names())
        return [match[1] for match in found if match]

    def size(self, days: Iterable[str]) -> int:
        """The bytes of the partitions of these days."""
        paths = (self.child(f"dt={day}")._path for day in days)
        return sum(int(self._system.getContentSummary(path).getLength()) for path in paths)

    def unfinished(self) -> "Directory":
        """A new child with a name that readers skip: write into it, then `rename` it."""
        return self.child(f"_unfinished-{uuid4().hex}")

    def rename(self, to: "Directory") -> None:
        """Rename it in one step. If the new name exists already, that content is as good: keep it
        and remove this one."""
        self._system.mkdirs(to._path.getParent())
        if to.exists() or not self._system.rename(self._path, to._path):
            self.remove()
        # Hadoop moves it *into* a directory that appeared after the check above.
        to.child(self._path.getName()).remove()

    def replace(self, name: str, new: "Directory") -> None:
        """Put a directory in the place of the child `name`. The old one is put aside first, and
        removed when the new one is in its place; after a crash `recover` finds one of them."""
        child, aside = self.child(name), self.child(f"{_REPLACED}{name}")
        if child.exists():
            aside.remove()
            child._move(aside)
        try:
            new._move(child)
        except BaseException:
            self.recover()
            raise
        aside.remove()

    def recover(self) -> None:
        """End what a crash interrupted in `replace`: an old child without a new one comes back."""
        for name in self.names():
            if name.startswith(_REPLACED):
                child, aside = self.child(name.removeprefix(_REPLACED)), self.child(name)
                if child.exists():
                    aside.remove()
                else:
                    aside._move(child)

    def _move(self, to: "Directory") -> None:
        self._system.mkdirs(to._path.getParent())
        if not self._system.rename(self._path, to._path):
            raise JobError(f"{self.path} cannot be renamed to {to.path}")

    def remove(self) -> None:
        self._system.delete(self._path, True)
