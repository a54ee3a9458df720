"""Tables in; correlations and figures out. Independent of vectors and models: tables may come from
elsewhere.
"""
