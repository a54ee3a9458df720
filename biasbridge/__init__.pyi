from . import data as data
from . import plot as plot
from .bbq_scores import bbq as bbq
from .certifying import certify as certify
from .commands.audit import audit as audit
from .commands.debias import debias as debias
from .commands.gaps import gaps as gaps
from .commands.gaps import gate as gate
from .commands.gaps import thresholds as thresholds
from .correlating import correlate as correlate
from .correlating import read_results as read_results
from .inputs import query as query
from .predicting import predict as predict

__version__: str
