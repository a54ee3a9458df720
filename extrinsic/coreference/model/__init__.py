"""End-to-end coreference (Lee et al., 2017) in torch; ``extrinsic.coreference.resolver`` has its
settings.
"""
