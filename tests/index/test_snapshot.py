"""An index in a file: it loads completely, or fails with a clear error and no index."""

import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from index import Attribute, Index, Schema
from index.backends.backend import NotSupported
from index.language import Limits

NOBODY = 65534

ATTRIBUTES = [("country", "string"), ("age", "int"), ("price", "float"), ("tags", "string list")]
SCHEMA = Schema([Attribute(*each) for each in ATTRIBUTES])
EVENTS: list[dict[str, object]] = [
    {},
    {"country": "US"},
    {"country": "é\U0010ffff", "age": 5},
    {"age": 30, "price": 1.5, "tags": ["a", "b"]},
    {"age": -(2**63), "tags": []},
]


def make() -> Index:
    index = Index(SCHEMA, engine="native")
    index.insert(0, "true", score=-(2**63))
    index.insert(1, "false")
    index.insert(2, "country in ('US', 'é\U0010ffff')", score=2**63 - 1, start=10)
    index.insert(3, "country = 'US' xor age >= 5 xnor price < 1.5", end=20.5)
    index.insert(64, "not (tags all of ('a', 'b')) or age is null", score=3, start=10, end=20)
    index.insert(65, "true", group=7, version=1)
    index.insert(66, "true", group=2**63 - 1, version=2**32 - 1)
    index.mute(7)
    index.mute(9)
    index.insert(2**63 - 1, "tags is empty and age = -9223372036854775808")
    for id in range(100, 150):
        index.insert(id, f"age between {id - 100} and {id - 80} and country != 'x{id}'", id)
    return index


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of an index."""
    path = tmp_path / "some.index"
    make().save(path)
    return path


def test_load_gives_back_what_was_saved(path: Path) -> None:
    before, after = make(), Index.load(path, SCHEMA)
    after.check_invariants()
    assert list(after) == list(before)
    assert after.digest() == before.digest()
    assert after.muted() == before.muted() == {7, 9}
    for event in EVENTS:
        for at in (None, 0, 10, 19.9, 20, 20.4, 20.5):
            assert after.top(event, 1000, at, total=True) == before.top(event, 1000, at, total=True)
            assert after.match(event, at) == before.match(event, at)
        for id in before:
            assert after.explain(id, event) == before.explain(id, event)
    after.mute(2**63 - 1)
    assert 66 in before.match({})
    assert 66 not in after.match({})
    after.unmute(7)
    after.insert(67, "true", group=9)
    assert 65 in after.match({})
    assert 67 not in after.match({})


def test_what_was_loaded_can_be_changed_and_saved_again(path: Path) -> None:
    index = Index.load(path, SCHEMA)
    index.insert(2, "age = 77")
    index.remove(3)
    index.save(path)
    again = Index.load(path, SCHEMA)
    again.check_invariants()
    assert again.match({"age": 77}) == [0, 2, 66]
    assert list(again) == list(index)


def test_statistics_are_saved_too(path: Path) -> None:
    index = Index.load(path, SCHEMA)
    known = {
        "version": 1,
        "attributes": {"age": {"values": [[5, 0.5]]}, "country": {"presence": 1}},
    }
    index.use_statistics(known)
    index.insert(200, "age = 5 and country = 'US'")
    index.save(path)
    again = Index.load(path, SCHEMA)
    again.check_invariants()
    again.insert(201, "age = 5 and country = 'DE'")
    index.insert(201, "age = 5 and country = 'DE'")
    assert again.plan(200) == index.plan(200)
    assert again.plan(201) == index.plan(201)


def test_an_empty_index_is_saved_too(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    Index(SCHEMA, engine="native").save(str(path))
    assert len(Index.load(str(path), SCHEMA)) == 0


def test_the_same_content_is_the_same_file(path: Path, tmp_path: Path) -> None:
    make().save(tmp_path / "other")
    assert (tmp_path / "other").read_bytes() == path.read_bytes()


def test_more_attributes_and_another_order_are_welcome(path: Path) -> None:
    more = [("new", "bool"), *reversed(ATTRIBUTES)]
    index = Index.load(path, Schema([Attribute(*each) for each in more]))
    index.check_invariants()
    assert [index.match(event) for event in EVENTS] == [make().match(event) for event in EVENTS]


def refused(path: Path, match: str, schema: Schema = SCHEMA) -> None:
    """Loading is refused, and an empty index that tried is empty still."""
    with pytest.raises(ValueError, match=match):
        Index.load(path, schema)
    index = Index(schema, engine="native")
    with pytest.raises(ValueError, match=match):
        index._backend.load(path)
    index.check_invariants()
    assert len(index) == 0
    assert index.match({"country": "US"}) == []


def test_a_file_that_is_cut_short_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    for length in [*range(64), *range(64, len(whole), 97), len(whole) - 1]:
        path.write_bytes(whole[:length])
        refused(path, "not a snapshot of an index" if length < 8 else "the snapshot is cut short")
    path.write_bytes(whole + b"x")
    refused(path, "the snapshot ")


def test_a_file_with_a_flipped_byte_is_refused(path: Path) -> None:
    whole = path.read_bytes()
    for place in [*range(64), *range(64, len(whole), 97), len(whole) - 1]:
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(whole)
            damaged[place] ^= flip
            path.write_bytes(damaged)
            if place < 8:
                expected = "not a snapshot of an index"
            elif place < 12:
                expected = "the snapshot has version"
            elif place < 20:
                expected = "the snapshot is cut short"
            else:
                expected = "the snapshot is damaged: its checksum is wrong"
            refused(path, expected)


def test_random_damage_is_always_an_error(path: Path) -> None:
    whole = path.read_bytes()
    random = Random(1)
    index = Index(SCHEMA, engine="native")
    for _ in range(2000):
        damaged = bytearray(whole)
        for _ in range(random.choice([1, 1, 1, 2, 50])):
            damaged[random.randrange(len(whole))] ^= random.randrange(1, 256)
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="snapshot"):
            index._backend.load(path)
    assert len(index) == 0
    path.write_bytes(whole)
    index._backend.load(path)
    index.check_invariants()
    assert index.digest() == make().digest()


@pytest.mark.parametrize(
    "content", [b"", b"x", b"COPSE", b'{"version": 1}' * 9, b"\x7fELF" * 50, b"\0" * 4096]
)
def test_a_foreign_file_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    refused(path, "this is not a snapshot of an index")


@pytest.mark.parametrize("step", [-1, 1])
def test_another_version_is_refused(path: Path, step: int) -> None:
    whole = bytearray(path.read_bytes())
    version = int.from_bytes(whole[8:12], "little")
    whole[8:12] = (version + step).to_bytes(4, "little")
    path.write_bytes(whole)
    refused(path, f"the snapshot has version {version + step}, expected {version}")


def test_another_schema_is_refused_by_name(path: Path) -> None:
    renamed = [("land", "string"), *ATTRIBUTES[1:]]
    retyped = [*ATTRIBUTES[:1], ("age", "float"), *ATTRIBUTES[2:]]
    refused(
        path,
        "made with another schema: country was string, here it is not declared",
        Schema([Attribute(*each) for each in renamed]),
    )
    refused(
        path,
        "made with another schema: age was int, here it is float",
        Schema([Attribute(*each) for each in retyped]),
    )


def test_limits_are_for_what_is_inserted_not_for_what_was(path: Path) -> None:
    index = Index.load(path, SCHEMA, Limits(predicates=1))
    index.check_invariants()
    assert [index.match(event) for event in EVENTS] == [make().match(event) for event in EVENTS]
    with pytest.raises(ValueError, match="more than 1 predicate"):
        index.insert(3, "age = 1 or age = 2")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    refused(tmp_path / "nothing", "the snapshot cannot be accessed: No such file")
    refused(tmp_path, "the snapshot cannot be accessed: Is a directory")


def test_a_snapshot_is_loaded_into_an_empty_index_only(path: Path) -> None:
    index = Index(SCHEMA, engine="native")
    index.insert(5, "age = 1")
    with pytest.raises(ValueError, match="into an empty index"):
        index._backend.load(path)
    assert list(index) == [5]
    assert index.match({"age": 1}) == [5]


def fails_to_save(path: Path, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        make().save(path)


def test_a_folder_that_is_not_there_cannot_be_saved_into(tmp_path: Path) -> None:
    fails_to_save(tmp_path / "nowhere" / "index", "the snapshot cannot be accessed: No such file")


def test_a_folder_in_its_place_is_not_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    fails_to_save(folder, "the snapshot cannot be accessed")
    assert folder.is_dir()
    assert list(tmp_path.iterdir()) == [folder], "nothing is left beside it"


def test_a_folder_that_is_not_writable_keeps_the_old_file(path: Path) -> None:
    before = path.read_bytes()
    path.parent.chmod(0o500)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)  # root writes wherever it likes
    try:
        fails_to_save(path, "the snapshot cannot be accessed: Permission denied")
    finally:
        os.seteuid(user)
        path.parent.chmod(0o700)
    assert path.read_bytes() == before


@pytest.fixture
def small_files() -> Iterator[None]:
    """For a while this process cannot write large files, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (32_768, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, before)


@pytest.mark.usefixtures("small_files")
def test_a_failed_save_keeps_the_old_file(path: Path) -> None:
    before = path.read_bytes()
    index = make()
    index.insert_many((id, f"country = 'a long text for {id}'") for id in range(2000))
    with pytest.raises(ValueError, match="the snapshot cannot be accessed: File too large"):
        index.save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path], "nothing is left beside it"
    assert len(Index.load(path, SCHEMA)) == len(make())


@pytest.mark.parametrize("name", ["plain", "with.dots.index", ".hidden", "x.writing", "é ü"])
def test_any_name_of_a_file_will_do(tmp_path: Path, name: str) -> None:
    make().save(tmp_path / name)
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert len(Index.load(tmp_path / name, SCHEMA)) == len(make())


def test_files_that_differ_in_their_suffix_do_not_meet(tmp_path: Path) -> None:
    (tmp_path / "a.writing").write_text("mine")
    make().save(tmp_path / "a.index")
    assert (tmp_path / "a.writing").read_text() == "mine"


@pytest.mark.parametrize("engine", ["reference", "scan"])
def test_the_python_engines_say_that_they_cannot(tmp_path: Path, engine: str) -> None:
    with pytest.raises(NotSupported, match="keeps no snapshots"):
        Index(SCHEMA, engine=engine).save(tmp_path / "x")
