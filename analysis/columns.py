"""The columns of any table: see ``analysis.frame``."""

from analysis.frame import EMPTY as EMPTY
from analysis.frame import is_blank as is_blank
from analysis.frame import labels as labels
from analysis.frame import lists as lists
from analysis.frame import numbers as numbers
from analysis.frame import positions as positions
from analysis.frame import require_columns as require_columns
from analysis.frame import text_rows as text_rows
from analysis.frame import texts as texts
from analysis.frame import values_of as values_of
