"""The installation's secret is generated once, in a private file."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tradecounter.identity.installation_secret import derived_key, secret_key
from tradecounter.settings import Settings, SettingsError


def test_a_configured_secret_is_used_and_not_stored(tmp_path: Path) -> None:
    assert secret_key(Settings(secret_key="s" * 40, data_dir=tmp_path)) == "s" * 40
    assert list(tmp_path.iterdir()) == []


def test_the_embedded_databases_secret_is_generated_once_in_a_private_file(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    first = secret_key(Settings(data_dir=folder))
    assert len(first) == 64
    assert secret_key(Settings(data_dir=folder)) == first
    [kept] = folder.iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    kept.chmod(0o644)  # as a copy from elsewhere may be
    assert secret_key(Settings(data_dir=folder)) == first
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert secret_key(Settings(data_dir=tmp_path / "elsewhere")) != first


def test_processes_that_start_together_share_one_secret(tmp_path: Path) -> None:
    for number in range(20):
        settings = Settings(data_dir=tmp_path / str(number))
        with ThreadPoolExecutor(8) as threads:
            found = set(threads.map(lambda _, chosen=settings: secret_key(chosen), range(8)))
        assert len(found) == 1
        assert len(found.pop()) == 64


def test_an_external_database_requires_a_configured_secret(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="TRADECOUNTER_SECRET_KEY: is required"):
        secret_key(Settings(database_url="postgresql://x", data_dir=tmp_path))


@pytest.mark.parametrize("damaged", ["", "\n", "short"])
def test_a_damaged_secret_file_is_rejected(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "secret.key").write_text(damaged)
    with pytest.raises(SettingsError, match="contains no secret"):
        secret_key(Settings(data_dir=tmp_path))


def test_derived_keys_differ_by_secret_and_by_purpose() -> None:
    keys = {derived_key(secret, purpose) for secret in ("a" * 64, "b" * 64) for purpose in ("", "x", "y")}
    assert len(keys) == 6
    assert all(len(key) == 64 for key in keys)
    assert derived_key("a" * 64, "x") == derived_key("a" * 64, "x")
