from . import plot as plot
from .functions import audit as audit
from .functions import certify as certify
from .functions import correlate as correlate
from .functions import debias as debias
from .functions import gaps as gaps
from .functions import query as query
from .functions import read_results as read_results

__version__: str
