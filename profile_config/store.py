"""Files that a build makes: written whole or not at all, journalled before they appear, listed in a manifest at last.

<state>/builds/<config_id>/journal.json     what is about to be written; gone once the manifest stands
<state>/builds/<config_id>/manifest.json    the build; what discard removes
<state>/builds/<config_id>/copies/          copies whose original's folder cannot be written to
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.state import private_folder, read_json, state_dir, write_json

CONFIG_ID = re.compile(r"build-\d{8}-\d{6}-[0-9a-f]{6}")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def builds_dir() -> Path:
    return state_dir() / "builds"


def folder_of(config_id: str) -> Path:
    """The build's folder. Error: ``build_unknown`` for anything that is no id of ours."""
    if not CONFIG_ID.fullmatch(config_id):
        raise CodedError("build_unknown", found=config_id)
    return builds_dir() / config_id


def read_file(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


class Draft:
    """A build in the making. Leaving it without ``finish`` removes all that it wrote."""

    def __init__(self, config_id: str) -> None:
        self.config_id = config_id
        self.folder = private_folder(folder_of(config_id))
        self.files: dict[Path, str] = {}
        self.created_dirs: list[Path] = []
        self.finished = False

    def __enter__(self) -> "Draft":
        self._journal()
        return self

    def __exit__(self, *error: object) -> None:
        if not self.finished:
            self.undo()

    def undo(self) -> None:
        """Remove what this draft wrote, by its own list."""
        for path, digest in self.files.items():
            _remove(path, digest)
        for folder in reversed(self.created_dirs):
            with suppress(OSError):
                folder.rmdir()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _journal(self) -> None:
        me = psutil.Process()
        write_json(
            self.folder / "journal.json",
            {
                "pid": me.pid,
                "started": me.create_time(),
                "files": {str(path): digest for path, digest in self.files.items()},
                "dirs": [str(path) for path in self.created_dirs],
            },
        )

    def mkdir(self, path: Path) -> None:
        """Create a folder and what is missing above it. Error: ``directory_not_writable``."""
        missing = [folder for folder in (path, *path.parents) if not folder.exists()]
        self.created_dirs += [folder for folder in reversed(missing) if folder not in self.created_dirs]
        self._journal()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CodedError("directory_not_writable", found=path, detail=error.strerror or error) from None

    def write(self, path: Path, data: bytes, mode: int) -> None:
        """A new file, complete when it appears. Errors: ``copy_exists``, ``copy_not_written`` (disk full, ...)."""
        temporary = hidden(path)
        self.files |= {temporary: sha256(data), path: sha256(data)}
        self._journal()
        try:
            _write_new(temporary, data, mode)
            _appear(temporary, path)
        except FileExistsError:
            self.files.pop(path)
            raise CodedError("copy_exists", found=path) from None
        except OSError as error:
            raise CodedError("copy_not_written", found=path, detail=error.strerror or error) from None
        finally:
            _remove(temporary, None)
            self.files.pop(temporary, None)

    def write_hidden(self, path: Path, data: bytes) -> Path:
        """The script copy under a hidden name, where it is proven before it appears. Rewritten at every try."""
        temporary = hidden(path)
        _remove(temporary, None) if temporary in self.files else None
        self.files[temporary] = sha256(data)
        self._journal()
        try:
            _write_new(temporary, data, 0o600)
        except OSError as error:
            raise CodedError("copy_not_written", found=path, detail=error.strerror or error) from None
        return temporary

    def drop(self, path: Path) -> None:
        """Remove a file of this draft again."""
        if path in self.files:
            _remove(path, self.files.pop(path))

    def finish(self, manifest: dict[str, Any]) -> None:
        write_json(self.folder / "manifest.json", manifest)
        self.finished = True
        (self.folder / "journal.json").unlink(missing_ok=True)


def hidden(path: Path) -> Path:
    return path.with_name(f".{path.name}.tmp")


def _write_new(path: Path, data: bytes, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def _appear(temporary: Path, path: Path) -> None:
    """Give a complete file its name; never over an existing one."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        temporary.replace(path)


def _remove(path: Path, digest: str | None) -> bool:
    """Remove a file of ours; one that has been changed since (another digest) stays."""
    try:
        if digest is not None:
            data = read_file(path)
            # a torn temporary file is ours by its name; a finished one by its content
            if data is None or (sha256(data) != digest and not path.name.endswith(".tmp")):
                return False
        path.unlink()
    except OSError:
        return False
    return True


def _alive(journal: dict[str, Any]) -> bool:
    try:
        process = psutil.Process(int(journal["pid"]))
        return abs(process.create_time() - float(journal["started"])) < 1
    except (psutil.Error, KeyError, TypeError, ValueError):
        return False


def clean_leftovers() -> list[str]:
    """Undo builds whose process died before the manifest stood. Returns their ids."""
    cleaned = []
    for folder in _folders():
        journal = read_json(folder / "journal.json")
        if (folder / "manifest.json").exists():
            (folder / "journal.json").unlink(missing_ok=True)
            continue
        if journal is None or _alive(journal):
            continue
        for name, digest in dict(journal.get("files") or {}).items():
            _remove(Path(name), str(digest))
        for name in reversed(list(journal.get("dirs") or [])):
            with suppress(OSError):
                Path(name).rmdir()
        shutil.rmtree(folder, ignore_errors=True)
        cleaned.append(folder.name)
    return cleaned


def _folders() -> Iterator[Path]:
    with suppress(OSError):
        yield from sorted(path for path in builds_dir().iterdir() if CONFIG_ID.fullmatch(path.name))


def load_build(config_id: str) -> dict[str, Any]:
    """The manifest of a build. Error: ``build_unknown``."""
    manifest = read_json(folder_of(config_id) / "manifest.json")
    if manifest is None:
        raise CodedError("build_unknown", found=config_id)
    return manifest


def list_builds() -> list[dict[str, Any]]:
    """All builds that stand, newest first; leftovers of dead ones are cleaned on the way."""
    clean_leftovers()
    found = [read_json(folder / "manifest.json") for folder in _folders()]
    return sorted((m for m in found if m is not None), key=lambda m: str(m.get("created")), reverse=True)


def discard(config_id: str) -> dict[str, Any]:
    """Remove exactly what a build created. Returns {removed, kept, gone, dirs}: paths.

    A copy that was changed since is kept; so is every folder that holds something.
    """
    manifest = load_build(config_id)
    removed, kept, gone, dirs = [], [], [], []
    for copy in manifest["copies"]:
        path = Path(copy["copy"])
        if not os.path.lexists(path):
            gone.append(str(path))
        elif not path.is_symlink() and _remove(path, copy["sha256_copy"]):
            removed.append(str(path))
        else:
            kept.append(str(path))
    for name in reversed(manifest.get("created_dirs", [])):
        with suppress(OSError):
            Path(name).rmdir()
            dirs.append(name)
    if not kept:
        folder = folder_of(config_id)
        (folder / "manifest.json").unlink(missing_ok=True)
        for inner in (folder / "copies", folder):
            with suppress(OSError):
                inner.rmdir()
    return {"removed": removed, "kept": kept, "gone": gone, "dirs": dirs}
