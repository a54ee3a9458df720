from .intervals import Estimate as Estimate
from .intervals import difference as difference
from .intervals import holm as holm
from .intervals import mean_estimate as mean_estimate
from .intervals import proportion_estimate as proportion_estimate
from .intervals import quantile as quantile
from .intervals import wilson as wilson
