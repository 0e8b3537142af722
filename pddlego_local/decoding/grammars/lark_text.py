"""Grammars as values: put together from `grammars/*.lark`, checked, and used to read a text.

Two readers must agree on every text: python-lark here, and llguidance inside the decoder. What both
take is in `grammars/tokens.lark`, what a layout is in `decoding.layout`. This file knows no rung
and no model.
"""

import functools
import re
from pathlib import Path
from typing import Literal

import lark
from lark.exceptions import LarkError, UnexpectedInput
from llguidance import LLMatcher, LLTokenizer

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Grammar
from pddlego_local.core.resources import folder
from pddlego_local.decoding.grammars.terminals import in_any_case
from pddlego_local.decoding.layout import Layout

_WORDS = ("condition", "tokens", "requirements")
_PARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "domain": ("domain", ("domain", *_WORDS)),
    "problem": ("problem", ("problem", *_WORDS)),
    "syntax": ("answer", ("pddl_json", "domain", "problem", *_WORDS)),
    "domain_syntax": ("answer", ("domain_json", "domain", *_WORDS)),
    "problem_syntax": ("answer", ("problem_json", "problem", *_WORDS)),
}
"""The rule that `start` stands for, and the parts the text is put together from: of a file, laid
out in any way; of both in their envelope; of either alone in its envelope."""
_FILES = ("domain", "problem")
_FREE = ("any", "file")
"""Layouts in which blanks are free; only there keywords have any case, and there are comments."""
_PART_MARK = "// part: "

_KEYWORD = re.compile(r'(?<!/)"(:?[a-z][a-z-]*)"')
_A_COMMENT = re.compile(r"\| COMMENT\b|\b_comments\b")

Verdict = Literal["accepted", "unfinished", "rejected"]


def load(name: str, layout: Layout = "any") -> Grammar:
    """The grammar `name` of _PARTS. Raises ConfigError for an unknown name or a part that cannot be
    read; `validate` says whether the text is a grammar at all."""
    if name not in _PARTS:
        raise ConfigError(f"There is no grammar {name!r}; choose one of {', '.join(_PARTS)}.")
    rule, parts = _PARTS[name]
    return with_parts(name, f"start: {rule}", parts, "file" if name in _FILES else layout)


def with_parts(
    name: str, rules: str, parts: tuple[str, ...], layout: Layout | Literal["file"]
) -> Grammar:
    """A grammar of `rules`, which begin with `start`, and the project's parts that they use."""
    if layout not in _FREE:
        rules = _A_COMMENT.sub("", rules)
    return Grammar(name, "lark", f"{rules}\n{_text_of(parts, layout, folder('grammars'))}")


def all_parts() -> list[str]:
    """The texts of all grammar files, in the order of their names."""
    return [path.read_text(encoding="utf-8") for path in sorted(folder("grammars").glob("*.lark"))]


@functools.cache
def _text_of(parts: tuple[str, ...], how: str, directory: Path) -> str:
    """The parts and the layout's file."""
    texts = [_part(directory / f"{part}.lark") for part in (*parts, f"layout_{how}")]
    text = "\n".join(texts)
    if how in _FREE:
        return _KEYWORD.sub(lambda keyword: in_any_case(keyword[1]), text)
    return _A_COMMENT.sub("", text)


def _part(path: Path) -> str:
    try:
        return f"{_PART_MARK}{path.name}\n{path.read_text(encoding='utf-8')}"
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The grammar file {path} cannot be read: {error}.") from None


def validate(grammar: Grammar | None) -> None:
    """Raises ConfigError, naming file, line and fault, unless both readers take the grammar.

    To be called before a grammar reaches a decoder: Outlines answers nothing, without an error,
    under a grammar that does not compile. None, free text, has no fault.
    """
    if grammar is None:
        return
    if grammar.kind == "lark":
        try:
            _parser(grammar.text)
        except UnexpectedInput as error:
            raise _malformed(grammar, error.line, str(error).splitlines()[0]) from None
        except LarkError as error:
            raise _malformed(grammar, _line_of_name(grammar.text, str(error)), str(error)) from None
    if fault := decoder_fault(grammar):
        position = re.search(r"(?:at )?(\d+)\(\d+\): ", fault)
        line = int(position[1]) if position else _line_of_name(grammar.text, fault)
        # Lines that begin with a blank quote the grammar; the place that we name says more.
        reason = " ".join(part for part in fault.splitlines() if part[:1].strip())
        raise _malformed(grammar, line, reason.replace(position[0], "", 1) if position else reason)


def decoder_fault(grammar: Grammar | None) -> str:
    """Why the decoder's engine does not compile the grammar, in its words; "" if it does."""
    try:
        return str(LLMatcher.validate_grammar(_for_decoder(grammar))) if grammar else ""
    except ValueError as error:  # a schema that is not JSON
        return str(error)


def accepts(grammar: Grammar, text: str) -> bool:
    """Whether `text` is in the language of a Lark grammar, as python-lark reads it."""
    try:
        _parser(grammar.text).parse(text)
    except UnexpectedInput:
        return False
    return True


def decoder_verdict(grammar: Grammar | None, text: str) -> Verdict:
    """How the decoder's own engine reads `text`, byte by byte; "unfinished" is a valid beginning.

    Takes Lark grammars, JSON schemas, and None for free text, which holds every text. Raises
    ConfigError if the grammar does not compile.
    """
    data = text.encode("utf-8", "surrogatepass")
    length, whole = decoder_prefix(grammar, data)
    if length < len(data):
        return "rejected"
    return "accepted" if whole else "unfinished"


def decoder_prefix(grammar: Grammar | None, data: bytes) -> tuple[int, bool]:
    """How many bytes of `data` the decoder's engine can read, and whether they are a whole text."""
    if grammar is None:
        return len(data), True
    matcher = LLMatcher(_byte_tokenizer(), _for_decoder(grammar), log_level=0)
    if matcher.is_error():
        raise _malformed(grammar, 0, matcher.get_error().splitlines()[0])
    return int(matcher.try_consume_tokens(list(data))), bool(matcher.is_accepting())


def forced_text(grammar: Grammar) -> str:
    """What every text of the grammar begins with."""
    matcher = LLMatcher(_byte_tokenizer(), _for_decoder(grammar), log_level=0)
    return bytes(matcher.compute_ff_bytes()).decode()


@functools.cache
def _parser(text: str) -> lark.Lark:
    # LALR reads a file in milliseconds; Earley, which needs no care in writing, in up to 250.
    return lark.Lark(text, parser="lalr", maybe_placeholders=False)


@functools.cache
def _byte_tokenizer() -> LLTokenizer:
    return LLTokenizer("byte")  # token n is byte n


def _for_decoder(grammar: Grammar) -> str:
    if grammar.kind == "lark":
        return str(LLMatcher.grammar_from_lark(grammar.text))
    return str(LLMatcher.grammar_from_json_schema(grammar.text))


def _malformed(grammar: Grammar, line: int, fault: str) -> ConfigError:
    """`line` is of the grammar's text, and counts from 1; what is said is of the part's file."""
    place = f"{grammar.name}, line {line}" if line > 0 else f"the grammar {grammar.name!r}"
    lines = grammar.text.splitlines()[: max(line, 0)]
    marks = [number for number, text in enumerate(lines, 1) if text.startswith(_PART_MARK)]
    if marks:
        file = lines[marks[-1] - 1].removeprefix(_PART_MARK)
        place = f"{file}, line {line - marks[-1]}"
    return ConfigError(
        f"Malformed grammar in {place}: {fault.strip().rstrip('.')}. Correct the file."
    )


def _line_of_name(text: str, message: str) -> int:
    """Where the first rule or terminal that a message names is defined, else used; 0 if nowhere."""
    lines = [line.split("//")[0] for line in text.splitlines()]
    names = [re.escape(name) for name in re.findall(r"\w+", message)]
    defined = [rf"[?!]?{name}\s*:" for name in names]
    used = [rf".*\b{name}\b" for name in names if "_" in name or name.isupper()]
    for pattern in defined + used:
        for number, line in enumerate(lines, start=1):
            if re.match(pattern, line):
                return number
    return 0
