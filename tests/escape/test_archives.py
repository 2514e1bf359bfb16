"""Archives made to do more than hold files.

Attack: unpack to more than there is room for, write outside the folder, or leave a link behind.
Why it must fail: they are decoded in a child with limits, and the parent writes plain files only.
"""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile

import pytest

from grader.errors import RefusedError
from grader.sandbox import archive

HONEST = {"kernel.cu": b"// a kernel", "inner/notes.toml": b"x = 1\n"}


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "unpacked"
    place.mkdir()
    return place


def zipped(path, files, kind=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", kind) as packed:
        for name, content in files:
            packed.writestr(name, content)
    return path


def refused(path, folder, says):
    with pytest.raises(RefusedError, match=says):
        archive.unpack(path, folder)
    assert sorted(item.name for item in folder.parent.iterdir()) == [path.name, folder.name]
    assert not list(folder.iterdir())


@pytest.mark.parametrize("suffix", archive.SUFFIXES)
def test_an_honest_archive(tmp_path, folder, suffix):
    path = tmp_path / f"a{suffix}"
    if suffix == ".zip":
        zipped(path, HONEST.items())
    else:
        with tarfile.open(path, "w" if suffix == ".tar" else "w:gz") as bundle:
            for name, content in HONEST.items():
                info = tarfile.TarInfo(f"./{name}")
                info.size = len(content)
                bundle.addfile(info, io.BytesIO(content))
    assert archive.unpack(path, folder) == tuple(sorted(HONEST))
    assert {name: (folder / name).read_bytes() for name in HONEST} == HONEST


def test_a_bomb(tmp_path, folder):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed, packed.open("a", "w") as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
    assert path.stat().st_size < 1 << 20
    refused(path, folder, "more than 32 MiB")


def test_a_bomb_of_overlapping_files(tmp_path, folder):
    """Every entry of the directory names the same packed megabytes."""
    path = zipped(tmp_path / "bomb.zip", [("file000.cu", bytes(1 << 20))])
    data = path.read_bytes()
    at = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry = data[at:end]
    many = b"".join(entry.replace(b"file000", b"file%03d" % i) for i in range(900))
    tail = bytearray(data[end:])
    tail[8:12] = (900).to_bytes(2, "little") * 2
    tail[12:16] = len(many).to_bytes(4, "little")
    path.write_bytes(data[:at] + many + bytes(tail))
    refused(path, folder, "MiB|cannot be read|differ|Overlapped")


def test_too_many_files(tmp_path, folder):
    refused(zipped(tmp_path / "a.zip", [(f"{i}", b"") for i in range(1001)]), folder, "1000 files")


@pytest.mark.parametrize(
    "name",
    ["../outside", "/tmp/grade-escaped", "a/../../outside", "a\\..\\outside", "new\nline",
     "\x1b[2J", "\u202ecod.uc", "a//b", "./../x", "..", "x" * 300],
)  # fmt: skip
def test_names(tmp_path, folder, name):
    refused(zipped(tmp_path / "a.zip", [("kernel.cu", b""), (name, b"")]), folder, "of the name")


@pytest.mark.parametrize(
    ("names", "says"),
    [(["a", "a"], "twice"), (["a.cu", "A.cu"], "twice"), (["a", "a/b"], "below a file")],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_meet(tmp_path, folder, names, says):
    refused(zipped(tmp_path / "a.zip", [(name, b"") for name in names]), folder, says)


def test_links_and_devices_are_left_out(tmp_path, folder):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as bundle:
        for name, kind in (("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE),
                           ("dev", tarfile.CHRTYPE), ("fifo", tarfile.FIFOTYPE)):  # fmt: skip
            info = tarfile.TarInfo(name)
            info.type = kind
            info.linkname = "/etc/passwd"
            bundle.addfile(info)
        bundle.addfile(tarfile.TarInfo("kernel.cu"))
    assert archive.unpack(path, folder) == ("kernel.cu",)
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    other = tmp_path / "b.zip"
    zipped(other, [(link, "/etc/passwd"), ("more.cu", "")])
    assert archive.unpack(other, folder) == ("more.cu",)
    assert sorted(path.name for path in folder.iterdir()) == ["kernel.cu", "more.cu"]


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04" + bytes(100), bytes(1024), b"\x1f\x8b" * 50])
def test_what_is_no_archive(tmp_path, folder, data):
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    if data == bytes(1024):  # an empty tar
        assert archive.unpack(path, folder) == ()
    else:
        refused(path, folder, "no archive" if data else "is empty")


def test_an_archive_that_is_too_large(tmp_path, folder):
    path = tmp_path / "a.tar"
    with path.open("wb") as file:
        file.truncate(33 << 20)
    refused(path, folder, "more than 32 MiB")


def test_an_archive_that_is_not_there(tmp_path, folder):
    with pytest.raises(RefusedError, match="cannot be read"):
        archive.unpack(tmp_path / "nothing.zip", folder)


def test_one_students_file_does_not_stop_the_archive_of_a_class(tmp_path):
    """More files than a submission may have, and among them what an archive may not name."""
    path, folder = tmp_path / "class.zip", tmp_path / "out"
    folder.mkdir()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(4500):
            packed.writestr(
                f"Zoë Müller {number}_{number}_assignsubmission_file_/kernel.cu", "//\n"
            )
        for name in ("../../etc/cron.d/x", "/etc/x", "a/\x1b[2J.cu", "a\\..\\b.cu", "n" * 300):
            packed.writestr(zipfile.ZipInfo(name), "x")
        packed.writestr("ann/kernel.cu", "first")
        packed.writestr("ann/Kernel.cu", "second")
        packed.writestr("ann/kernel.cu/below", "x")
        packed.writestr("bomb/kernel.cu", bytes(archive.MOST_BYTES + 2))
    names, left_out = archive.unpack_class(path, folder)
    assert len(names) == 4501 and (folder / "ann" / "kernel.cu").read_text() == "first"
    assert len(left_out) == 8, left_out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["class.zip", "out"]
    assert sum(p.is_file() for p in folder.rglob("*")) == 4501


@pytest.mark.parametrize(
    ("data", "says"),
    [(b"", "is empty"), (b"PK\x03\x04 and no more", "no archive"), (b"x" * 2000, "no archive")],
)
def test_a_class_that_is_no_archive(tmp_path, data, says):
    (tmp_path / "class.zip").write_bytes(data)
    (tmp_path / "out").mkdir()
    with pytest.raises(RefusedError, match=says):
        archive.unpack_class(tmp_path / "class.zip", tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())
