"""Checks that a server reads and writes text as the model's own tokenizer does.

Versions of transformers before 5.20, as in vLLM's environment, replace a tokenizer
whose class is LlamaTokenizerFast by their own, which loses spaces (transformers#45488).
serving/launch.py prevents this for the servers that it starts; other servers can only
be tested.
"""

from typing import Any

from pddlego_local.core.errors import ConfigError, ModelFault
from pddlego_local.models.splice import LocalTokenizer
from pddlego_local.models.vllm.connection import Connection

PROBE = "Go  to (at room-1 12)\n\n\t[x] {y} naïve → 漢字 🙂 (:goal (at ?x - location))"


def check_tokenizer(
    connection: Connection, own: LocalTokenizer | None, *, ours: bool = True
) -> None:
    """Lets the server tokenize and detokenize a text and compares the results.

    `own` is the model's tokenizer. If it is None (not on this machine), the text must
    come back unchanged. Raises ConfigError if the server loses or changes parts of the
    text. A server that is not `ours` passes if it cannot be tested: a gateway may have
    no /tokenize.
    """
    try:
        read = connection.encode(PROBE)
        written = connection.decode(own.encode(PROBE) if own else read)
    except (ConfigError, ModelFault):
        if ours:
            raise
        return
    pairs: list[tuple[str, Any, Any]] = [("writes", written, PROBE)]
    if own:
        tokens = own.encode(PROBE)
        pairs = [("reads", read, tokens), ("writes", written, own.decode(tokens))]
    for verb, actual, expected in pairs:
        if actual != expected:
            raise ConfigError(
                f"vLLM {verb} text differently from the tokenizer of"
                f" {(own or connection).name}: {actual!r:.100} instead of"
                f" {expected!r:.100}. Its transformers may replace the tokenizer: start"
                " the server with serving/launch.py if the weights are on its machine,"
                ' or set tokenizer_class to "PreTrainedTokenizerFast" in their'
                " tokenizer_config.json."
            )
