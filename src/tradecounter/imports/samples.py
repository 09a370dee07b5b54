"""Sample files, one of each kind with all fields; imported in order, they fill an empty database."""

import shutil
from importlib.resources import as_file, files
from pathlib import Path

from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.kit.errors import OperatorError


def write_samples(folder: str) -> list[Path]:
    """Write the samples to a folder, which is created if needed; return their paths in the order to import them.

    Raises OperatorError, before writing anything, if one of the files exists.
    """
    paths = [Path(folder) / f"{kind}.csv" for kind in IMPORT_KINDS]
    for path in paths:
        if path.exists():
            raise OperatorError(f"{path} exists: name another folder, or remove it")
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for path in paths:
            with as_file(files("tradecounter.imports") / "sample_files" / path.name) as sample:
                shutil.copyfile(sample, path)
    except OSError as error:
        raise OperatorError(f"{error.filename}: {error.strerror}") from error
    return paths
