"""Layers are probed, told in words, and demanded; wrappers get the paths and nothing else."""

import errno
import os
import sys
from pathlib import Path

import pytest

from grader import sandbox
from grader.errors import NotGradableError
from grader.sandbox import Limits, bubblewrap, calls, child, landlock, layers, paths, seatbelt
from grader.sandbox.channel import Kind, decoder, write_frame
from grader.sandbox.confine import Confinement
from grader.sandbox.start import environment

LAYERS = sys.modules["grader.sandbox.layers"]
CONFINEMENT = Confinement(
    limits=Limits(), scratch="/s", read=("/r", '/odd "name'), write=("/s",), layers=("landlock",)
)


def test_every_layer_that_is_on_was_tried():
    found = {layer.name: layer for layer in layers()}
    assert found["process"].on
    if LAYERS.missing().get("landlock", "") is None:
        assert found["landlock"].on, found["landlock"].detail
        assert f"ABI {landlock.abi()}" in found["landlock"].detail
        assert found["seccomp"].on, found["seccomp"].detail
    if LAYERS.missing().get("bubblewrap", "") is None:
        assert found["bubblewrap"].on, found["bubblewrap"].detail


def test_a_layer_that_does_not_hold_is_told():
    """A probe that gets through is believed over the quick question."""
    found = {"exists": True, "opened": True, "connected": True, "forked": False}
    assert "opened" in LAYERS._got_past(("landlock",), found)
    assert "connected" in LAYERS._got_past(("seccomp",), found)
    held = {"exists": True, "opened": False, "connected": False, "forked": False}
    assert LAYERS._got_past(("landlock",), held) is None
    assert LAYERS._got_past(("bubblewrap",), held) is not None
    assert LAYERS._got_past(("landlock",), {}) is not None


@pytest.mark.parametrize(
    ("on", "got_past", "strong"),
    [
        (("landlock", "seccomp"), None, True),
        (("bubblewrap", "landlock", "seccomp"), None, True),
        (("landlock", "seccomp"), "its probe got through: opened", False),
        (("seccomp",), None, False),
        (("bubblewrap", "seccomp"), None, False),
        ((), None, False),
    ],
)
def test_weaker_than_landlock_is_refused_unless_asked(monkeypatch, on, got_past, strong):
    names = ("process", "landlock", "seccomp", "bubblewrap")
    found = tuple(LAYERS.Layer(name, name in on, "why not") for name in names)
    monkeypatch.setattr(LAYERS, "layers", lambda: found)
    monkeypatch.setattr(LAYERS, "available", lambda: on)
    monkeypatch.setattr(LAYERS, "_broken", lambda names: got_past)
    monkeypatch.setattr(sys, "platform", "linux")
    assert LAYERS.is_strong() is strong
    LAYERS.demand(weak_is_allowed=True)
    if strong:
        LAYERS.demand()
    else:
        with pytest.raises(NotGradableError, match="expected Landlock") as raised:
            LAYERS.demand()
        assert "--weak-sandbox" in raised.value.hint


@pytest.mark.parametrize(
    ("environment", "flags", "code"),
    [({}, [], 1), ({"CI": "true"}, [], 3), ({"CI": "true"}, ["--weak-sandbox"], 1)],
)
def test_ci_demands_a_strong_sandbox(monkeypatch, tmp_path, environment, flags, code):
    """A file that is refused: exit 1 says that it was looked at, 3 that nothing was."""
    from grader import cli

    monkeypatch.delenv("CI", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(LAYERS, "is_strong", lambda: False)
    (tmp_path / "kernel.cu").write_bytes(b"\xff\xfe")
    words = ["submit", "assignment3", str(tmp_path), "--out", str(tmp_path / "out"), *flags]
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == code
    assert (tmp_path / "out").exists() is (code == 1)


@pytest.mark.skipif(sys.platform != "linux", reason="orders a Linux layer to fail")
def test_a_layer_that_fails_refuses_the_call(tmp_path):
    """No silent way down: what the parent ordered holds, or the request is not even read."""
    order = Confinement(Limits(), str(tmp_path), layers=("landlock",)).to_order()
    request_in, request_out = os.pipe()
    reply_in, reply_out = os.pipe()
    pid = os.fork()
    if pid == 0:
        landlock.abi = lambda: 99  # the kernel refuses rights that it does not know
        landlock.handled = lambda abi: (2**64 - 1, 0, 0)
        child.main(request_in, reply_out)
    write_frame(request_out, Kind.REQUEST, {**order, "job": "jobs:echo"})
    os.waitpid(pid, 0)
    frames = decoder(1 << 20)
    wanted = next(frames)
    while isinstance(wanted, int):
        wanted = frames.send(os.read(reply_in, wanted))
    assert wanted[0] is Kind.REFUSED
    assert "Landlock" in wanted[1].header["error"]
    for fd in (request_in, request_out, reply_in, reply_out):
        os.close(fd)


@pytest.mark.parametrize(
    ("abi", "rights", "net", "scopes"),
    [(1, 13, 0, 0), (2, 14, 0, 0), (3, 15, 0, 0), (4, 15, 3, 0), (5, 16, 3, 0), (7, 16, 3, 3)],
)
def test_rights_by_abi(abi, rights, net, scopes):
    assert landlock.handled(abi) == ((1 << rights) - 1, net, scopes)


def test_what_an_older_landlock_lacks_is_said():
    assert landlock.describe(7) == ""
    assert "TCP" in landlock.describe(3)
    assert "truncating" not in landlock.describe(3)
    assert len(landlock.describe(1).split(";")) == 5


def test_landlock_errors_name_it(monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "Landlock: not permitted")

    monkeypatch.setattr(landlock, "_checked", refuse)
    with pytest.raises(OSError, match="Landlock"):
        landlock.restrict((), ())


def test_the_environment_is_made_anew(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.setenv("PYTHONPATH", "/planted")
    monkeypatch.setenv("LD_PRELOAD", "")
    made = environment(Path("/s"), {"EXTRA": "1"})
    assert made["HOME"] == made["TMPDIR"] == "/s"
    assert made["EXTRA"] == "1"
    assert "hunter2" not in made.values()
    assert not {"PYTHONPATH", "LD_PRELOAD"} & set(made)


def test_the_checkout_is_not_readable():
    root = paths.PACKAGE.parent
    for path in paths.toolkit():
        assert not root.is_relative_to(path), path
        for secret in ("reference", "assignments", "tests"):
            assert not (root / secret).is_relative_to(path), path


def test_folders_that_a_pth_file_names_are_readable(monkeypatch, tmp_path):
    """Packages installed to be edited; but nothing that holds what no child may see."""
    root = paths.PACKAGE.parent
    monkeypatch.setattr(paths.tempfile, "gettempdir", lambda: "/tmp/everybody")
    monkeypatch.setenv("GRADE_CACHE", str(tmp_path / "above" / "cache"))
    for name in ("site", "edited", "unused", "above/cache", "work/tools"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    wild = ["/", "/tmp", str(root), str(root.parent), str(root / "assignments"), str(tmp_path),
            str(tmp_path / "above"), str(tmp_path / "work"), str(tmp_path / "work" / "tools"),
            str(Path.home()), ".."]  # fmt: skip
    monkeypatch.setattr(sys, "path", [*sys.path, *wild, str(tmp_path / "edited")])
    no_folders = ["# comment", "import sys; sys.exit('a child runs none')", "", "missing"]
    lines = [*no_folders, *wild, "../edited", str(tmp_path / "unused")]
    (tmp_path / "site" / "a.pth").write_text("\n".join(lines))
    assert paths.named_by_pth([str(tmp_path / "site")]) == [str(tmp_path / "edited")]
    monkeypatch.setattr(paths.site, "getsitepackages", lambda: [str(tmp_path / "site")])
    assert str(tmp_path / "edited") in paths.toolkit.__wrapped__()


def test_a_package_that_a_pth_file_names_is_imported_in_a_child(monkeypatch, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "edited").mkdir()
    code = "def job(request, blobs):\n    return {'found': True}, []\n"
    (tmp_path / "edited" / "edited_package.py").write_text(code)
    (tmp_path / "site" / "a.pth").write_text(f"{tmp_path / 'edited'}\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "edited")])
    limits = Limits(wall_seconds=20)
    assert sandbox.call("edited_package:job", {}, limits=limits).header is None
    monkeypatch.setattr(paths.site, "getsitepackages", lambda: [str(tmp_path / "site")])
    monkeypatch.setattr(calls, "toolkit", paths.toolkit.__wrapped__)
    assert sandbox.call("edited_package:job", {}, limits=limits).header == {"found": True}


def test_the_import_path_has_no_relative_entries(monkeypatch):
    monkeypatch.setattr(sys, "path", ["", ".", "relative", *sys.path])
    assert all(Path(path).is_absolute() for path in paths.import_path())


def test_the_import_path_has_not_the_current_directory(monkeypatch, tmp_path):
    """Attack: `python -m grader` in a student's folder, which holds a `json.py`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert str(tmp_path) not in paths.import_path()
    assert paths.import_path()[-1] == str(paths.PACKAGE.parent)


def test_bubblewrap_binds_the_paths_and_nothing_else():
    words = bubblewrap.wrapped(["program", "--flag"], CONFINEMENT)
    binds = [words[i : i + 3] for i, word in enumerate(words) if "bind" in word]
    assert ["--ro-bind-try", "/r", "/r"] in binds
    assert ["--bind-try", "/s", "/s"] in binds
    assert len(binds) == 3
    assert "--unshare-all" in words
    assert words[words.index("--") :] == ["--", "program", "--flag"]


def test_the_seatbelt_profile_denies_by_default():
    text = seatbelt.profile(CONFINEMENT.read, CONFINEMENT.write, processes=0)
    lines = text.splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"]
    assert '(allow file-read* (subpath "/odd \\"name"))' in lines
    assert '(allow file-write* (subpath "/s"))' in lines
    assert "network" not in text
    assert "process-fork" not in text
    assert "process-fork" in seatbelt.profile((), (), processes=1)


def test_confinement_travels_as_json():
    assert Confinement.from_order({**CONFINEMENT.to_order(), "job": "x"}) == CONFINEMENT


def test_counting_alone_is_outrun():
    """What the probe of the fork limit shows is not what the watch over processes does anyway.

    That the watch can be too late is what is claimed: where much else runs, a child that waits for
    its turn is sometimes counted in time.
    """
    made = 0
    for _ in range(20):
        exit_, _ = LAYERS._probe("multiply", {}, (), starting=True)
        made = exit_.output.count("+")
        if made > LAYERS.PROBE_LIMITS.processes:
            break
    assert made > LAYERS.PROBE_LIMITS.processes


def test_bubblewrap_binds_the_nodes_of_a_device_as_devices():
    words = bubblewrap._prefix(("/usr/lib", "/dev/zero"), ("/dev/null",), ("/dev/nvidia0",))
    at = words.index("/dev/nvidia0")
    assert words[at - 1] == "--dev-bind-try"
    assert "/dev/null" not in words  # --dev makes the harmless ones
