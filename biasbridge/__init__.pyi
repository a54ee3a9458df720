from . import data as data
from . import plot as plot
from .commands.audit import audit as audit
from .commands.bbq import bbq as bbq
from .commands.certify import certify as certify
from .commands.correlate import correlate as correlate
from .commands.correlate import read_results as read_results
from .commands.debias import debias as debias
from .commands.effects import effects as effects
from .commands.gaps import gaps as gaps
from .commands.gaps import gate as gate
from .commands.predict import predict as predict
from .commands.relate import relate as relate
from .commands.report import report as report
from .commands.train import study as study
from .commands.tsne import tsne as tsne
from .input_words import query as query
from .prediction_tables import changed_items as changed_items
from .prediction_tables import thresholds as thresholds

__version__: str
