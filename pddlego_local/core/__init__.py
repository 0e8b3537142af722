"""The nouns and protocols of the field, errors, outcomes, seeds, and the record.

It imports no other folder of the package.
"""
