"""Atomic writes: a file is there whole, or as it was before."""

import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import mbframe as mb
from mbframe.disk.atomic import FOLDER, folder_beside, folder_of, replacing, replacing_as_owner, write_text
from mbframe.disk.locks import Lock


def test_the_file_appears_with_its_content_and_nothing_else_remains(tmp_path):
    write_text(tmp_path / "model.json", "{}\n")
    assert (tmp_path / "model.json").read_bytes() == b"{}\n"
    assert os.listdir(tmp_path) == ["model.json"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_goes_wrong_leaves_the_old_file(tmp_path, error):
    write_text(tmp_path / "a.txt", "old")

    def fail() -> None:
        with replacing(tmp_path / "a.txt") as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert (tmp_path / "a.txt").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_the_old_file_is_there_until_the_block_ends(tmp_path):
    write_text(tmp_path / "a.txt", "old")
    with replacing(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
        assert (tmp_path / "a.txt").read_text() == "old"
        assert temporary.suffix == ".txt"
    assert (tmp_path / "a.txt").read_text() == "new"


def test_a_full_disk_is_a_clear_error(tmp_path):
    write_text(tmp_path / "a.txt", "old")
    with (
        pytest.raises(mb.ModelError, match=r"a\.txt.*No space left on device.*free space"),
        replacing(tmp_path / "a.txt"),
    ):
        raise OSError(28, "No space left on device")
    assert (tmp_path / "a.txt").read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_places_that_cannot_be_written_are_refused(tmp_path):
    with pytest.raises(mb.ModelError, match="no folder"):
        write_text(tmp_path / "missing" / "a.txt", "")
    with pytest.raises(mb.ModelError, match="not a regular file"):
        write_text(tmp_path, "")
    with pytest.raises(mb.ModelError, match="not a regular file"):
        write_text(os.devnull, "")


@pytest.mark.parametrize("name", ["a\0b.txt", "\ud800.txt", 300 * "a"])
def test_what_cannot_be_a_name_is_refused(tmp_path, name):
    with pytest.raises(mb.ModelError, match=r"cannot be the name of a file: .*; choose another name"):
        write_text(tmp_path / name, "{}")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", [250 * "a" + ".txt", 124 * "é" + ".txt"])
def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path, name):
    """Names of temporary files are longer."""
    for content in ("old", "new"):
        write_text(tmp_path / name, content)
        assert (tmp_path / name).read_text() == content
    assert os.listdir(tmp_path) == [name]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(mb.ModelError, match="cannot be written"):
        write_text(tmp_path / "a.txt", "")


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions and links")
def test_permissions_and_links_are_kept(tmp_path):
    umask = os.umask(0o027)
    try:
        write_text(tmp_path / "a.txt", "1")
        assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640
    finally:
        os.umask(umask)
    (tmp_path / "a.txt").chmod(0o600)
    (tmp_path / "link.txt").symlink_to(tmp_path / "a.txt")
    write_text(tmp_path / "link.txt", "2")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "a.txt").read_text() == "2"
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform != "linux", reason="needs locks of open file descriptions")
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    """Temporary files of this name whose owner is gone; others, and those that are being written, stay."""
    names = [".model-0123456789ab.json", ".model-0123456789ac.json", ".other-0123456789ab.json", ".model-short.json"]
    for name in names:
        (tmp_path / name).write_text("half")
    with Lock(tmp_path / names[1]) as lock:
        assert lock.held
        write_text(tmp_path / "model.json", "new")
        assert sorted(os.listdir(tmp_path)) == sorted(["model.json", *names[1:]])
    write_text(tmp_path / "model.json", "newer")
    assert sorted(os.listdir(tmp_path)) == sorted(["model.json", *names[2:]])


@pytest.mark.skipif(sys.platform != "linux", reason="needs locks of open file descriptions")
def test_a_kept_lock_outlasts_the_writing(tmp_path):
    path = tmp_path / "a.txt"
    with replacing_as_owner(path) as (temporary, lock):
        temporary.write_text("mine")
        kept = lock.kept()
    assert kept.owns(path)
    with pytest.raises(mb.ModelError, match="is being written by a run"):
        write_text(path, "other")
    assert path.read_text() == "mine"
    kept.close()
    write_text(path, "other")
    assert path.read_text() == "other"


def test_many_writers_of_one_name(tmp_path):
    """One after the other gets the name, at first and when it is there; each file is whole, and nothing is left."""
    path, texts = tmp_path / "a.txt", [str(k) * 50_000 for k in range(8)]

    def write(text: str) -> None:
        for _ in range(10):
            write_text(path, text)
            assert path.read_text() in texts

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(write, texts)) == [None] * 8
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs locks of open file descriptions")
def test_folders_of_killed_processes_are_removed_by_the_next(tmp_path):
    """As temporary files are: those of others, and those that are in use, stay."""
    half, lonely, other = (
        tmp_path / f".{stem}{FOLDER}" for stem in ("a-0123456789ab.gif", "a-0123456789ac.gif", "b.gif")
    )
    for folder in (half, lonely, other):
        folder.mkdir()
        (folder / "pictures.mkv").write_text("half")
    half.with_name(".a-0123456789ab.gif").write_text("half")
    with replacing(tmp_path / "a.gif") as temporary, folder_of(temporary) as mine:
        with folder_beside(tmp_path / "a.gif") as beside:
            assert sorted(found for found in tmp_path.iterdir() if found.is_dir()) == sorted([mine, beside, other])
        assert not beside.exists()
        temporary.write_text("new")
    assert sorted(os.listdir(tmp_path)) == sorted(["a.gif", other.name])
