"""What is printed of an error that Spark raises, as it words them."""

from py4j.protocol import Py4JError

from spark.errors import exit_code, reason_of

UNREADABLE = """An error occurred while calling o80.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 0.0 failed
org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file \
file:///log/dt=2026-11-16/part.jsonl.gz.  SQLSTATE: KD001
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.cannotReadFilesError(Errors.scala:920)
Caused by: java.io.EOFException: Unexpected end of input stream
\tat org.apache.hadoop.io.compress.DecompressorStream.decompress(DecompressorStream.java:165)
"""
CONNECTOR = """An error occurred while calling o80.getFileSystem.
: org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "gs"
\tat org.apache.hadoop.fs.FileSystem.getFileSystemClass(FileSystem.java:3581)
"""


def test_the_innermost_cause_with_its_file() -> None:
    error = Py4JError(UNREADABLE)
    assert reason_of(error) == (
        "file:///log/dt=2026-11-16/part.jsonl.gz: EOFException: Unexpected end of input stream"
    )
    assert exit_code(error) == 1


def test_a_missing_connector() -> None:
    error = Py4JError(CONNECTOR)
    assert reason_of(error) == 'UnsupportedFileSystemException: No FileSystem for scheme "gs"'
    assert exit_code(error) == 2
