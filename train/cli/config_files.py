"""Configuration files with a size limit: a few aliases in YAML can stand for billions of values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hydra._internal.core_plugins import file_config_source
from hydra._internal.sources_registry import SourcesRegistry

from files.nested import read_yaml

if TYPE_CHECKING:
    from hydra.plugins.config_source import ConfigResult

MAX_VALUES = 10_000  # per file; OmegaConf takes seconds for more


class FileConfigSource(file_config_source.FileConfigSource):
    """Files of a folder; replaces Hydra's class, whose name it must have."""

    def load_config(self, config_path: str) -> ConfigResult:
        """Load a file. Raises ``InputError`` for one that is too large or no YAML."""
        path = Path(self.path) / self._normalize_file_name(config_path)
        if path.is_file():
            read_yaml(path, max_values=MAX_VALUES)
        return super().load_config(config_path)


def bound_config_files() -> None:
    """Make Hydra read files by ``FileConfigSource``."""
    SourcesRegistry.instance().types[FileConfigSource.scheme()] = FileConfigSource
