"""Files of rows: written once, named by what they hold, readable by a server, and digested as the servers digest."""

from __future__ import annotations

import errno
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.model import Column, DataFile, Experiment
from tasks.datafiles import RowFile
from tasks.errors import StatementFailed

COLUMNS = (Column("id", "integer"), Column("v", "text"))
ODD = """
select * from (values (1, 'plain'), (2, null), (3, ''), (4, 'a,"b"'), (5, 'Zoë'), ({{last}}, ' ')) as odd(id, v)
order by id
"""
EXPERIMENT = Experiment(
    "mine", "?", {}, {}, COLUMNS, "id", 1, None, {}, (), (), (), {}, (), {"odd.sql": ODD}, "",
    files={"odd": DataFile("odd", "csv"), "tabs": DataFile("odd", "text")},
)  # fmt: skip
# Count and sums of what md5sum says of 1:15:plain, 1:2:, 1:30:, 1:45:a,"b", 1:54:Zoë and 1:91: with the space behind it,
# seven digits at a time.
DIGEST = "6:812876115:959713461:715435816:902207471"


def file_in(directory: Path, name: str = "odd", last: int = 9, **changes: object) -> RowFile:
    return RowFile.of(replace(EXPERIMENT, **changes), name, {"last": last}, directory)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["odd", "tabs"])
def test_the_digest_is_that_of_the_rows(tmp_path: Path, name: str) -> None:
    file = file_in(tmp_path, name)
    file.make()

    assert file.digest == DIGEST
    assert file.rows == 6
    assert file_in(tmp_path, name).digest == file.digest


def test_csv_tells_null_from_nothing_as_postgresql_does(tmp_path: Path) -> None:
    file = file_in(tmp_path)
    file.make()
    assert file.path.read_text() == '1,plain\n2,\n3,""\n4,"a,""b"""\n5,Zoë\n9, \n'


def test_text_has_tabs_and_a_sign_for_null(tmp_path: Path) -> None:
    file = file_in(tmp_path, "tabs")
    file.make()
    assert file.path.read_text() == '1\tplain\n2\t\\N\n3\t\n4\ta,"b"\n5\tZoë\n9\t \n'


def test_a_file_is_made_once_and_leaves_nothing_else_behind(tmp_path: Path) -> None:
    file = file_in(tmp_path)
    file.make()
    made = file.path.stat().st_mtime_ns
    file_in(tmp_path).make()

    assert file.path.stat().st_mtime_ns == made
    assert list(tmp_path.iterdir()) == [file.path]


def test_other_rows_columns_or_forms_are_another_file(tmp_path: Path) -> None:
    others = [
        file_in(tmp_path, last=10),
        file_in(tmp_path, "tabs"),
        file_in(tmp_path, columns=(Column("id", "bigint"), Column("v", "text"))),
    ]
    assert len({one.path for one in [file_in(tmp_path), *others]}) == 4


def test_a_server_reads_it_under_a_name_in_its_own_directory(tmp_path: Path) -> None:
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    file = RowFile.of(EXPERIMENT, "odd", {"last": 9}, tmp_path / "data", exchange)
    file.make()

    assert file.server_path.parent == exchange
    assert file.server_path.samefile(file.path)
    assert stat.S_IMODE(file.server_path.stat().st_mode) == 0o644


def test_a_copy_across_disks_is_there_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    file = RowFile.of(EXPERIMENT, "odd", {"last": 9}, tmp_path / "data", exchange)

    def cross_device(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    def half(source: Path, target: Path) -> None:
        target.write_text("1,pl")
        assert not file.server_path.exists(), "killed now, it would be taken for whole"
        raise KeyboardInterrupt

    monkeypatch.setattr("os.link", cross_device)
    with monkeypatch.context() as interrupted:
        interrupted.setattr("shutil.copyfile", half)
        with pytest.raises(KeyboardInterrupt):
            file.make()
    assert list(exchange.iterdir()) == []
    file.make()

    assert list(exchange.iterdir()) == [file.server_path]
    assert file.server_path.read_bytes() == file.path.read_bytes()
    assert stat.S_IMODE(file.server_path.stat().st_mode) == 0o644


def test_a_query_that_fails_leaves_no_file(tmp_path: Path) -> None:
    file = file_in(tmp_path, sql={"odd.sql": "select 1 / nothing"})
    with pytest.raises(StatementFailed, match=r'file "odd": Binder Error: Referenced column "nothing"'):
        file.make()
    assert list(tmp_path.iterdir()) == []


def test_a_line_that_fits_no_column_has_no_digest(tmp_path: Path) -> None:
    file = file_in(tmp_path, sql={"odd.sql": "select 'x' as id, 'y' as v"})
    file.make()
    with pytest.raises(StatementFailed, match=r'file "odd": .*Error'):
        assert file.digest
