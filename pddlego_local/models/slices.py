"""Words in one glance: masks of a large vocabulary at a third of their cost.

llguidance sorts a vocabulary into slices, each with a regular expression, and asks of a slice once
whether all its tokens are permitted. Its own slices are made for text between quotation marks. PDDL
is words, so here they are slices of their own. Masks stay the same.
"""

from llguidance import LLTokenizer

WORD = r"[a-zA-Z0-9_\-]+"  # as in serving/forced_tokens.py, which runs without this package


def with_word_slices(tokenizer: LLTokenizer) -> LLTokenizer:
    """The tokenizer with slices for words and for words behind a blank, before llguidance's own."""
    return tokenizer.with_slices([WORD, f" {WORD}", *LLTokenizer.general_slices()])
