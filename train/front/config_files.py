"""Configuration files, refused before Hydra builds what is beyond bounds, such as ten lines of
aliases that stand for billions of values.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hydra._internal.core_plugins import file_config_source
from hydra._internal.sources_registry import SourcesRegistry

from files.nested import read_yaml

if TYPE_CHECKING:
    from hydra.plugins.config_source import ConfigResult

MOST_VALUES = 10_000  # of a file; OmegaConf takes seconds for more


class FileConfigSource(file_config_source.FileConfigSource):
    """The files of a folder, in the place of Hydra's class, whose name it must have."""

    def load_config(self, config_path: str) -> ConfigResult:
        """Load a file. Raises ``InputError`` for one that is beyond bounds or no YAML."""
        path = Path(self.path) / self._normalize_file_name(config_path)
        if path.is_file():
            read_yaml(path, most=MOST_VALUES)
        return super().load_config(config_path)


def bound_config_files() -> None:
    """Have Hydra read files by this class."""
    SourcesRegistry.instance().types[FileConfigSource.scheme()] = FileConfigSource
