"""A reader sees the whole file or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from biasbridge.files import atomic_path


def test_file_appears_only_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "new" / "table.csv"
    with atomic_path(target) as work:
        work.write_text("half")
        assert not target.exists()
        assert work.suffix == ".csv"
        work.write_text("whole")
    assert target.read_text() == "whole"
    assert [p.name for p in target.parent.iterdir()] == ["table.csv"]


@pytest.mark.parametrize("folder", [False, True])
def test_error_leaves_the_old_content_and_nothing_half_written(
    tmp_path: Path, folder: bool
) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")

    def write() -> None:
        with atomic_path(target) as work:
            if folder:
                work.mkdir()
                (work / "part").write_text("new")
            else:
                work.write_text("new")
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        write()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_two_writers_do_not_share_a_work_path(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    with atomic_path(target) as one, atomic_path(target) as two:
        one.write_text("one")
        two.write_text("two")
        assert one != two
    assert target.read_text() == "one"  # the outer block ends last
