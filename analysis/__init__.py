"""Tables in; correlations and figures out. Independent of vectors and models: tables may come from
elsewhere.
"""

from biasbridge.hidden import refuse_hidden

refuse_hidden("files")
