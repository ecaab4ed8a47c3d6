"""Server files lie in a short directory that nobody else can swap, apart from the home."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from experiments.model import UserError
from tasks.launchers.place import Place
from tests.launchers.conftest import needs_root


def place_at(root: Path, home: Path = Path("/home/me/.storage-matrix")) -> Place:
    return Place.of(home, {"STORAGE_MATRIX_DATA": str(root)})


def refusal(place: Place) -> str:
    with pytest.raises(UserError) as error:
        place.prepare()
    assert error.value.exit_code == 2
    return str(error.value)


def test_the_default_is_below_var_tmp_and_named_by_user_and_home() -> None:
    place = Place.of(Path("/home/me/.storage-matrix"), {})
    assert place.root == Path(f"/var/tmp/storage-matrix-{os.geteuid()}")
    assert place.folder == place.root / "1b0f4888"
    assert Place.of(Path("/home/me/other"), {}).folder != place.folder
    assert Place.of(Path("/home/me/x/../.storage-matrix"), {}).folder == place.folder


def test_a_place_touches_no_disk_until_it_is_prepared(tmp_path: Path) -> None:
    place = place_at(tmp_path / "data")
    assert list(place.neighbours()) == []
    assert not place.root.exists()


def test_a_prepared_place_records_its_home(tmp_path: Path) -> None:
    place = place_at(tmp_path / "data", Path("/home/mé/mein Ordner"))
    place.prepare()
    place.prepare()
    assert (place.folder / "home").read_text() == "/home/mé/mein Ordner\n"
    assert [neighbour.home for neighbour in place.neighbours()] == [Path("/home/mé/mein Ordner")]


def test_what_we_make_is_closed_and_what_was_there_is_left_as_it_was(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    root = tmp_path / "data"
    root.mkdir(mode=0o700)
    place = place_at(root)
    place.prepare()
    assert tmp_path.stat().st_mode & 0o777 == 0o750
    assert root.stat().st_mode & 0o777 == 0o700
    assert place.folder.stat().st_mode & 0o777 == (0o711 if os.geteuid() == 0 else 0o700)


def test_a_link_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    place = place_at(tmp_path / "data")
    place.root.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place.folder.symlink_to(elsewhere)
    assert refusal(place) == (
        f"{place.folder}: not a directory of this user, so not used for server files; set $STORAGE_MATRIX_DATA to one"
    )
    assert list(elsewhere.iterdir()) == []


@needs_root
def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    place = place_at(tmp_path / "data")
    place.folder.mkdir(parents=True)
    os.chown(place.folder, 65534, 65534)
    assert "not a directory of this user" in refusal(place)
    assert list(place.neighbours()) == []


def test_a_root_that_anybody_may_change_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "data"
    root.mkdir()
    root.chmod(0o777)
    assert refusal(place_at(root)) == (
        f"{root}: anybody may replace files there; set $STORAGE_MATRIX_DATA to a directory that is yours"
    )
    root.chmod(0o1777)
    place_at(root).prepare()


def test_a_root_that_is_a_file_or_cannot_be_made_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert refusal(place_at(file)) == (
        f"{file}: server files cannot be written there; set $STORAGE_MATRIX_DATA to a directory that is yours"
    )
    assert refusal(place_at(file / "below")) == (
        f"{file / 'below'}: cannot make the directory for server files (Not a directory); set $STORAGE_MATRIX_DATA"
    )


def test_cells_are_measured_by_one_run_at_a_time(tmp_path: Path) -> None:
    environ = {"STORAGE_MATRIX_DATA": str(tmp_path / "root")}
    one, other = Place.of(tmp_path / "one", environ), Place.of(tmp_path / "other", environ)
    told: list[str] = []
    waits, measures = threading.Event(), threading.Event()

    def wait(holder: str) -> None:
        told.append(holder)
        waits.set()

    def measure() -> None:
        with other.host_alone(wait):
            told.append("other")
            measures.set()

    with one.host_alone(told.append):
        thread = threading.Thread(target=measure)
        thread.start()
        assert waits.wait(10)
        assert not measures.is_set()
        told.append("one")
    thread.join(10)
    assert told == [f"the run of process {os.getpid()} in {tmp_path / 'one'}", "one", "other"]
