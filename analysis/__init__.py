"""Tables in; correlations and figures out. Independent of vectors and models: tables may come from
elsewhere.
"""

from biasbridge.shadowed_packages import refuse_hidden

refuse_hidden("files")
