"""Files and folders are whole or not there, and what cannot be written says what helps."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from regard.errors import ModelFolderError, WriteError
from regard.files import (
    CHECKSUMS,
    checksum,
    expected_checksums,
    first_damaged,
    is_damaged,
    put_in_place,
    remove_leftovers,
    staging_folder,
    whole_file,
    whole_folder,
    write_bytes,
    write_checksums,
    write_text,
)


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_file_has_its_name_only_when_it_is_whole(tmp_path: Path, is_shared: bool) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with whole_file(path, is_shared=is_shared) as partial:
        assert partial.parent.parent == tmp_path
        assert partial.suffix == ".txt"
        partial.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_writer_that_fails_leaves_what_was_there(tmp_path: Path, is_shared: bool) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), whole_file(path, is_shared=is_shared) as partial:
        raise ZeroDivisionError(partial.write_text("half"))
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_two_processes_may_write_what_is_shared(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    code = (
        "import sys; from pathlib import Path; from regard.files import write_bytes; "
        "write_bytes(Path(sys.argv[1]), b'theirs', is_shared=True)"
    )
    with whole_file(path, is_shared=True) as partial:
        partial.write_text("ours")
        subprocess.run([sys.executable, "-c", code, str(path)], check=True)
        assert path.read_text() == "theirs"
    assert path.read_text() == "ours"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no permission bits")
def test_a_file_has_the_permissions_that_the_user_gives_to_new_files(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    with whole_file(tmp_path / "a") as partial:
        partial.unlink()
        os.close(os.open(partial, os.O_CREAT | os.O_WRONLY, 0o600))
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_file_is_flushed_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, there = tmp_path / "a", list[bool]()
    monkeypatch.setattr(os, "fsync", lambda _: there.append(path.exists()))
    write_bytes(path, b"new")
    assert there == [False, True]  # the file, and then its name in the folder


def test_a_folder_that_nobody_made_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="No such file or directory"):
        write_text(tmp_path / "none" / "a", "text")
    assert names(tmp_path) == []


def test_a_folder_in_whose_place_a_file_lies(tmp_path: Path) -> None:
    (tmp_path / ".a.partial").write_text("in the way")
    write_text(tmp_path / "a", "text")
    assert (tmp_path / "a").read_text() == "text"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_folder_has_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "above" / "corpus"
    for said in ("old", "new"):
        with whole_folder(path) as filling:
            (filling / "inner").mkdir()
            write_text(filling / "inner" / "a", said)
            assert path.exists() == (said == "new")
        assert (path / "inner" / "a").read_text() == said
        assert names(path.parent) == ["corpus", "corpus/inner", "corpus/inner/a"]


def test_what_the_user_keeps_beside_a_folder_stays(tmp_path: Path) -> None:
    for name in ("model", "model.old", "model.partial", "a.old", "a.partial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").touch()
    with whole_folder(tmp_path / "model") as filling:
        write_text(filling / "new", "")
    write_text(tmp_path / "a", "")
    kept = [path.parent.name for path in sorted(tmp_path.rglob("mine"))]
    assert kept == ["a.old", "a.partial", "model.old", "model.partial"]
    assert sorted(set(names(tmp_path)) - {f"{name}/mine" for name in kept} - {*kept}) == [
        "a",
        "model",
        "model/new",
    ]


def test_a_folder_that_is_not_filled_leaves_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "corpus"
    with whole_folder(path) as filling:
        write_text(filling / "a", "old")
    with pytest.raises(ModelFolderError) as caught, whole_folder(path) as filling:
        raise OSError(errno.ENOSPC, f"full after {(filling / 'b').write_text('new')} bytes")
    assert "untouched" in str(caught.value)
    assert names(tmp_path) == ["corpus", "corpus/a"]


def test_leftovers_are_removed(tmp_path: Path) -> None:
    for one in (tmp_path, tmp_path / "inner"):
        one.mkdir(exist_ok=True)
        (one / "a.partial").mkdir()
        (one / "a.partial" / "half").touch()
        (one / "b.partial").touch()
        (one / "c").touch()
    remove_leftovers(tmp_path / "inner")
    assert [path.name for path in (tmp_path / "inner").iterdir()] == ["c"]
    assert (tmp_path / "a.partial").is_dir()  # of another folder


def test_several_files_are_prepared_in_one_place(tmp_path: Path) -> None:
    with staging_folder(tmp_path / "corpus") as staging:
        for name in ("a", "b"):
            (staging / name).write_text(name)
            put_in_place(staging / name, tmp_path / name, is_summed=True)
    assert names(tmp_path) == [CHECKSUMS, "a", "b"]
    assert expected_checksums(tmp_path) == {
        name: [checksum(tmp_path / name)] for name in ("a", "b")
    }


def test_damage_to_a_folder_is_found(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    write_checksums(tmp_path)
    assert first_damaged(tmp_path) is None
    (tmp_path / "b").write_text("c")
    assert first_damaged(tmp_path) == tmp_path / "b"
    (tmp_path / "a").unlink()
    assert first_damaged(tmp_path) == tmp_path / "a"


def test_who_reads_while_a_file_is_replaced_is_not_told_of_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_text(path, "one", is_summed=True)

    def slow(read: Path) -> str:
        found = checksum(read)
        if n_read := len(reads):
            return found
        reads.append(n_read)
        write_text(path, "two", is_summed=True)
        write_text(path, "three", is_summed=True)
        return found

    reads: list[int] = []
    monkeypatch.setattr("regard.files.checksum", slow)
    assert not is_damaged(path)
    assert reads


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "make room"),
        (errno.EDQUOT, "make room"),
        (errno.EACCES, "writable"),
        (errno.EPERM, "writable"),
        (errno.EROFS, "writable"),
        (errno.EIO, "another place"),
    ],
)
def test_what_helps_follows_from_what_the_system_said(
    tmp_path: Path, number: int, remedy: str
) -> None:
    with pytest.raises(WriteError) as caught, whole_file(tmp_path / "file"):
        raise OSError(number, os.strerror(number))
    assert caught.value.reason == os.strerror(number)
    assert os.strerror(number) in str(caught.value)
    assert remedy in str(caught.value)
    assert ("make room" in str(caught.value)) == (remedy == "make room")


def test_a_folder_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    with pytest.raises(WriteError) as caught, whole_file(folder / "file"):
        shutil.rmtree(folder)
    assert f"{folder} is gone" in str(caught.value)
    assert "make room" not in str(caught.value)
