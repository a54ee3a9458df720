"""Array types."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.intp]
Truths = NDArray[np.bool_]
Labels = NDArray[np.str_]
