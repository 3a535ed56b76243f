"""Projects: one file with a model, results and looks, which nothing in it can make do anything else."""

from __future__ import annotations

import json
import os
import struct
import zipfile

import pytest

import mbframe as mb
from mbframe.files import projects
from mbframe.files.model import document, system_from
from mbframe.files.projects import Project, StoredRun


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("result") / "run.h5"
    mb.simulate(mb.examples.simple_pendulum(), 0.1, dt=1e-2, output=path)
    return path


@pytest.fixture
def project(result):
    runs = [StoredRun(result, {"name": "Run 1"}), StoredRun(result, {"name": "Run 2", "visible": False})]
    return Project(document(mb.examples.four_bar(), {"t_end": 2.0}), runs, {"time": 0.5})


def test_a_project_is_read_as_it_was_written(project, result, tmp_path):
    done = []
    projects.save(project, tmp_path / "a.mbproject", done.append)
    assert done[-1] == 1.0
    assert done == sorted(done)
    found = projects.read(tmp_path / "a.mbproject", tmp_path)
    assert found.model == project.model
    assert found.looks == {"time": 0.5}
    assert [run.about for run in found.runs] == [run.about for run in project.runs]
    assert [run.file.read_bytes() for run in found.runs] == [result.read_bytes()] * 2
    assert system_from(found.model).name == "four-bar linkage"
    first = (tmp_path / "a.mbproject").read_bytes()
    projects.save(project, tmp_path / "a.mbproject")
    assert (tmp_path / "a.mbproject").read_bytes() == first
    assert sorted(os.listdir(tmp_path)) == sorted(["a.mbproject", *(run.file.name for run in found.runs)])


def test_what_interrupts_leaves_the_old_file_and_no_other(project, tmp_path):
    place = tmp_path / "a.mbproject"
    projects.save(project, place)
    before = place.read_bytes()

    def stop(fraction):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        projects.save(project, place, stop)
    with pytest.raises(KeyboardInterrupt):
        projects.read(place, tmp_path, stop)
    assert place.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.mbproject"]
    lost = Project(project.model, [StoredRun(tmp_path / "gone.h5")])
    with pytest.raises(mb.ModelError, match="no such file"):
        projects.save(lost, place)
    assert place.read_bytes() == before


def archive(path, compression=zipfile.ZIP_STORED, **entries):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, text in entries.items():
            file.writestr(name, text)


def described(**changes):
    return json.dumps({"format": "mbframe project", "version": 1, "runs": [], "looks": {}} | changes)


MODEL = json.dumps(document(mb.examples.simple_pendulum()))


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"project.json": described()}, "no entry 'model.json'"),
        ({"project.json": described(version=2), "model.json": MODEL}, "install a newer one"),
        ({"project.json": described(format="other"), "model.json": MODEL}, "not a project"),
        ({"project.json": "[]", "model.json": MODEL}, "not a project"),
        ({"project.json": "{", "model.json": MODEL}, "no JSON"),
        ({"project.json": described(runs=[{}]), "model.json": MODEL}, "no entry 'runs/1.h5'"),
        ({"project.json": described(runs=[3]), "model.json": MODEL}, "runs must be"),
        ({"project.json": described(looks=3), "model.json": MODEL}, "looks must be"),
        ({"project.json": described(), "model.json": MODEL, "../../outside.h5": "x"}, "that no project has"),
        ({"project.json": described(), "model.json": MODEL, "/etc/passwd": "x"}, "that no project has"),
        ({"project.json": described(), "model.json": MODEL, "runs/01.h5": "x"}, "that no project has"),
    ],
)
def test_other_archives_are_refused(entries, message, tmp_path):
    archive(tmp_path / "a.mbproject", **entries)
    with pytest.raises(mb.ModelError, match=message):
        projects.read(tmp_path / "a.mbproject", tmp_path)
    assert os.listdir(tmp_path) == ["a.mbproject"]


def test_archives_that_would_fill_disk_or_memory_are_refused(tmp_path):
    place = tmp_path / "a.mbproject"
    archive(place, zipfile.ZIP_DEFLATED, **{"project.json": described(), "model.json": MODEL, "runs/1.h5": "0" * 10**7})
    with pytest.raises(mb.ModelError, match="compressed or encrypted"):
        projects.read(place, tmp_path)
    # Many entries that share the same bytes:
    archive(place, **{"project.json": described(), "model.json": MODEL, "runs/1.h5": "0" * 10**6})
    whole = place.read_bytes()
    start = whole.index(b"PK\x01\x02")
    entry = whole[whole.rindex(b"PK\x01\x02") : whole.rindex(b"PK\x05\x06")]
    directory = whole[start : whole.rindex(b"PK\x05\x06")]
    directory += b"".join(entry.replace(b"runs/1.h5", b"runs/%d.h5" % k) for k in range(2, 10))
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 11, 11, len(directory), start, 0)
    place.write_bytes(whole[:start] + directory + end)
    with pytest.raises(mb.ModelError, match="longer than the file"):
        projects.read(place, tmp_path)
    # A directory without end:
    directory = directory[:46] * 60_000
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 60_000, 60_000, len(directory), start, 0)
    place.write_bytes(whole[:start] + directory + end)
    with pytest.raises(mb.ModelError, match="directory that no project needs"):
        projects.read(place, tmp_path)


def test_what_is_no_archive_is_refused(project, tmp_path):
    place = tmp_path / "a.mbproject"
    place.write_text("PK")
    with pytest.raises(mb.ModelError, match="saved as a project"):
        projects.read(place, tmp_path)
    os.mkfifo(tmp_path / "pipe.mbproject")
    with pytest.raises(mb.ModelError, match="is a pipe"):
        projects.read(tmp_path / "pipe.mbproject", tmp_path)
    projects.save(project, place)
    damaged = bytearray(place.read_bytes())
    damaged[damaged.index(b"\x89HDF") + 100] ^= 1
    place.write_bytes(damaged)
    with pytest.raises(mb.ModelError, match="CRC"):
        projects.read(place, tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["a.mbproject", "pipe.mbproject"]
