from collections.abc import Mapping

_PACKAGED_DATASETS_MODULES: Mapping[str, tuple[str, str]]
