"""Whether a server reads and writes text as the model's own tokenizer does.

The transformers of vLLM's environment (before 5.20) puts a tokenizer of its own in the place of one
whose class is LlamaTokenizerFast, and blanks are lost (transformers#45488). serving/launch.py keeps
its servers from that; any other server is only asked.
"""

from typing import Any

from pddlego_local.core.errors import ConfigError, ModelFault
from pddlego_local.models.splice import LocalTokenizer
from pddlego_local.models.vllm.connection import Connection

PROBE = "Go  to (at room-1 12)\n\n\t[x] {y} naïve → 漢字 🙂 (:goal (at ?x - location))"


def check_tokenizer(
    connection: Connection, own: LocalTokenizer | None, *, ours: bool = True
) -> None:
    """Asks the server to spell a text and to write it again.

    `own` is the model's tokenizer, None where it is not on this machine: then the text must come
    back as it was. Raises ConfigError if the server loses or changes some of it. A server that is
    not `ours` and cannot be asked passes: a gateway may know no /tokenize.
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
    for verb, said, meant in pairs:
        if said != meant:
            raise ConfigError(
                f"vLLM {verb} text otherwise than the tokenizer of {(own or connection).name}: "
                f"{said!r:.100} in place of {meant!r:.100}. Its transformers may replace the "
                "tokenizer: start the server with serving/launch.py when the weights are on its "
                'machine, or set tokenizer_class to "PreTrainedTokenizerFast" in their '
                "tokenizer_config.json."
            )
