from .intervals import Estimate as Estimate
from .intervals import holm as holm
from .intervals import mean_estimate as mean_estimate
from .intervals import quantile as quantile
from .proportions import difference as difference
from .proportions import proportion_estimate as proportion_estimate
from .proportions import wilson as wilson
