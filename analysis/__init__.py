"""Tables in; correlations and figures out. Knows neither vectors nor models: every table may as
well come from elsewhere.
"""

from biasbridge.hidden import refuse_hidden

refuse_hidden("files")
