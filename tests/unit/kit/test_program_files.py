"""What counts as another release."""

from pathlib import Path

from tradecounter.kit.digest import installed_files


def test_an_installed_or_removed_library_is_noticed(tmp_path: Path) -> None:
    libraries = tmp_path / "site-packages"
    library = libraries / "library-1.0.dist-info"
    library.mkdir(parents=True)
    before = installed_files([str(libraries)])
    assert installed_files([str(libraries)]) == before
    library.rename(libraries / "library-1.1.dist-info")
    assert installed_files([str(libraries)]) != before


def test_another_folder_in_place_of_the_libraries_is_noticed(tmp_path: Path) -> None:
    libraries = tmp_path / "site-packages"
    libraries.mkdir()
    before = installed_files([str(libraries)])
    libraries.rename(tmp_path / "before")
    libraries.mkdir()
    assert installed_files([str(libraries)]) != before
