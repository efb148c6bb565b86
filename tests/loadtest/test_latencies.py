"""Latencies: lines are read back, and those of several processes are added up."""

from pathlib import Path

from loadtest.latencies import Recorder, read, total


def test_a_second_is_written_when_it_is_over(tmp_path: Path) -> None:
    recorder, path = Recorder(), tmp_path / "latencies"
    recorder.record("match", 100.9, 0.0003124)
    recorder.record("match", 101.1, 0.001, error="503")
    with path.open("wb") as file:
        recorder.write(file, 101.5)
        assert list(read([path])) == [100]
        recorder.write(file, 102.0)
    seconds = read([path])
    assert {at: kinds["match"].errors.total() for at, kinds in seconds.items()} == {100: 0, 101: 1}
    assert seconds[100]["match"].times == [0.000312]


def test_files_of_several_processes_add_up(tmp_path: Path) -> None:
    for process in range(2):
        recorder = Recorder()
        recorder.record("match", 100.0, 0.001 * (process + 1))
        recorder.record("pause", 100.0, 0.5, error="409")
        with (tmp_path / f"latencies-{process}").open("wb") as file:
            recorder.write(file, 101.0)
            file.write(b'{"at": 101, "kin')  # in the middle of being written
    kinds = read(tmp_path.iterdir())[100]
    assert sorted(kinds["match"].times) == [0.001, 0.002]
    assert kinds["pause"].errors == {"409": 2}
    assert len(total(kinds.values()).times) == 4
