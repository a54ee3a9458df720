from . import data as data
from . import plot as plot
from .auditing import audit as audit
from .bbq_scores import bbq as bbq
from .certifying import certify as certify
from .correlating import correlate as correlate
from .correlating import read_results as read_results
from .debiasing import debias as debias
from .gap_gate import gate as gate
from .group_gaps import gaps as gaps
from .inputs import query as query
from .predicting import predict as predict
from .score_thresholds import thresholds as thresholds

__version__: str
