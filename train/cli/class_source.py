"""Hydra's view of classes as configuration files; those of the project come after its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

from biasbridge.files.choice_classes import PROJECT, ChoiceClass, choice_classes, find_choice
from biasbridge.train.cli.class_configs import configuration

SCHEME = "classes"  # prefix of folders in Hydra's search path


class ClassConfigSource(ConfigSource):
    """Classes of a folder as configuration files."""

    @staticmethod
    def scheme() -> str:
        """Return the prefix of folders in Hydra's search path."""
        return SCHEME

    def load_config(self, config_path: str) -> ConfigResult:
        """Return the configuration of a class. Raises ``InputError`` if it cannot be imported."""
        found = self._find(config_path)
        assert found
        node = OmegaConf.create(configuration(found))
        return ConfigResult(self.provider, self.full_path(), node, {"package": None})

    def available(self) -> bool:
        """Return whether the folder exists."""
        return Path(self.path).is_dir()

    def is_group(self, config_path: str) -> bool:
        """Return whether the folder has a class of the group."""
        return bool(config_path and choice_classes(self.path, config_path.rstrip("/")))

    def is_config(self, config_path: str) -> bool:
        """Return whether the folder has the class."""
        return bool(self._find(config_path))

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        """Return the names of a group."""
        if results_filter == ObjectType.GROUP:
            return []
        return sorted({found.name for found in choice_classes(self.path, config_path)})

    def _find(self, config_path: str) -> ChoiceClass | None:
        group, _, name = config_path.removesuffix(".yaml").rpartition("/")
        return find_choice([self.path], group, name) if group and name else None


class ProjectClasses(SearchPathPlugin):
    """Search of the project's classes, after its files."""

    def manipulate_search_path(self, search_path: Any) -> None:
        """Add the project to Hydra's search path."""
        search_path.append("classes", f"{SCHEME}://{PROJECT}")


Plugins.instance().register(ClassConfigSource)
Plugins.instance().register(ProjectClasses)
