"""A tree is removed whatever it is made of, and nothing outside it is touched."""

import os

from grader.sandbox.removal import remove_tree


def test_deep_closed_and_oddly_named(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("new\nline", "\u202ertl", "-rf", "*", "bad\udcff"):
        (tree / name).write_text("")
    (tree / "link").symlink_to(outside)
    (tree / "dangling").symlink_to("nowhere")
    os.mkfifo(tree / "fifo")
    closed = tree / "closed"
    closed.mkdir()
    (closed / "inner").mkdir()
    (closed / "inner" / "file").write_text("")
    (closed / "inner" / "link").symlink_to(outside, target_is_directory=True)
    (closed / "inner").chmod(0)
    closed.chmod(0)
    here = os.open(tree, os.O_RDONLY)
    for _ in range(1500):  # deeper than Python's recursion limit and than PATH_MAX
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    remove_tree(tree)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside"]
    assert (outside / "kept").read_text() == "kept"


def test_a_tree_that_is_gone(tmp_path):
    remove_tree(tmp_path / "nothing")
