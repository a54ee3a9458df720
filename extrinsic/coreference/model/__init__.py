"""End-to-end coreference (Lee et al., 2017) in torch; ``biasbridge.extrinsic.coreference.settings``
has its settings.
"""
