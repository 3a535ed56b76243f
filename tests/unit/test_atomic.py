"""Atomic writes: a file is there whole, or as it was before."""

import os
import stat

import pytest

import mbframe as mb
from mbframe.files.atomic import replacing, write_text


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
