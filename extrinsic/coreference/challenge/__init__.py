"""Challenge sets: sentences with a pronoun of known antecedent, and the gaps between pro- and
anti-stereotypical sentences, and between pronouns of two genders.
"""
