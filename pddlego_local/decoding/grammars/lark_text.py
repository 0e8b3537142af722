"""Grammars as values: combines the files `grammars/*.lark`, checks grammars, and parses
texts.

Two parsers must agree on every text: python-lark here, and llguidance inside the
decoder. `grammars/tokens.lark` says what both accept, and `decoding.layout` what a
layout is. This module does not depend on rungs or models.
"""

import functools
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

import lark
from lark.exceptions import LarkError, UnexpectedInput
from llguidance import LLMatcher, LLTokenizer

from pddlego_local.core.errors import ConfigError
from pddlego_local.core.nouns import Grammar
from pddlego_local.core.resources import folder
from pddlego_local.decoding.layout import Layout

_WORDS = ("condition", "tokens", "requirements")


class _Parts(NamedTuple):
    """The rule to which `start` expands, and the files that make up the text."""

    rule: str
    files: tuple[str, ...]


_PARTS = {
    "domain": _Parts("domain", ("domain", *_WORDS)),
    "problem": _Parts("problem", ("problem", *_WORDS)),
    "syntax": _Parts("answer", ("pddl_json", "domain", "problem", *_WORDS)),
    "domain_syntax": _Parts("answer", ("domain_json", "domain", *_WORDS)),
    "problem_syntax": _Parts("answer", ("problem_json", "problem", *_WORDS)),
}
"""The parts of each grammar. The first two grammars are for plain files in any layout.
"syntax" is for a JSON object with both files, and the last two are for a JSON object
with one file.
"""
_FILES = ("domain", "problem")
_FREE = ("any", "file")
"""Layouts with free white space. Only these allow comments, and keywords in any case.
"""
_PART_MARK = "// part: "

_KEYWORD = re.compile(r'(?<!/)"(:?[a-z][a-z-]*)"')
_A_COMMENT = re.compile(r"\| COMMENT\b|\b_comments\b")

_REPLACEMENT = "\ufffd"
_MOST_BYTES_CUT = 3
_FIRST_BYTES = range(0xC2, 0xF5)  # of a character of several bytes in UTF-8

Verdict = Literal["accepted", "unfinished", "rejected"]


def load(name: str, layout: Layout = "any") -> Grammar:
    """Returns the grammar `name` of _PARTS, unchecked (see `validate`). Raises
    ConfigError for an unknown name or a file that cannot be read.
    """
    if name not in _PARTS:
        raise ConfigError(
            f"There is no grammar {name!r}; choose one of {', '.join(_PARTS)}."
        )
    whole = _PARTS[name]
    how = "file" if name in _FILES else layout
    return with_parts(name, f"start: {whole.rule}", whole.files, how)


def with_parts(
    name: str, rules: str, parts: tuple[str, ...], layout: Layout | Literal["file"]
) -> Grammar:
    """Returns a grammar of `rules`, which begin with the rule `start`, and of the
    grammar files `parts`, which the rules use.
    """
    if layout not in _FREE:
        rules = _A_COMMENT.sub("", rules)
    files = _text_of(parts, layout, folder("grammars"))
    return Grammar(name, "lark", f"{rules}\n{files}")


def all_parts() -> list[str]:
    """Returns the texts of all grammar files, sorted by file name."""
    return [
        path.read_text(encoding="utf-8")
        for path in sorted(folder("grammars").glob("*.lark"))
    ]


def in_any_case(word: str) -> str:
    """Returns a terminal for one word with letters in either case."""
    pattern = ""
    for letter in word:
        if letter.isalpha():
            pattern += f"[{letter.lower()}{letter.upper()}]"
        else:
            pattern += re.escape(letter)
    return f"/{pattern}/"


@functools.cache
def _text_of(parts: tuple[str, ...], how: str, directory: Path) -> str:
    """Returns the text of the parts and of the layout's file."""
    texts = []
    for part in (*parts, f"layout_{how}"):
        texts.append(_part(directory / f"{part}.lark"))
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
    """Raises ConfigError with file, line and fault unless both parsers accept the
    grammar.

    Call it before a grammar reaches a decoder: under a grammar that does not compile,
    Outlines returns an empty answer and no error. None (free text) is always accepted.
    """
    if grammar is None:
        return
    if grammar.kind == "lark":
        try:
            _parser(grammar.text)
        except UnexpectedInput as error:
            reason = str(error).splitlines()[0]
            raise _malformed(grammar, error.line, reason) from None
        except LarkError as error:
            line = _line_of_name(grammar.text, str(error))
            raise _malformed(grammar, line, str(error)) from None
    fault = decoder_fault(grammar)
    if not fault:
        return
    # Lines that begin with a space quote the grammar; our message has file and line.
    own = [line for line in fault.splitlines() if line[:1].strip()]
    reason = " ".join(own)
    position = re.search(r"(?:at )?(\d+)\(\d+\): ", fault)
    if position is None:
        raise _malformed(grammar, _line_of_name(grammar.text, fault), reason)
    reason = reason.replace(position[0], "", 1)
    raise _malformed(grammar, int(position[1]), reason)


def decoder_fault(grammar: Grammar | None) -> str:
    """Returns llguidance's message if it does not compile the grammar; "" if it
    does.
    """
    if grammar is None:
        return ""
    try:
        return str(LLMatcher.validate_grammar(for_decoder(grammar)))
    except ValueError as error:  # a schema that is not JSON
        return str(error)


@functools.lru_cache(maxsize=64)
def with_any_space(grammar: Grammar | None) -> Grammar | None:
    """Returns the grammar with any white space between the parts of its JSON.

    Only llguidance keeps to the layout that `x-guidance` asks for. llama.cpp and other
    servers obey the schema itself, and space their JSON as they like.
    """
    if grammar is None or grammar.kind == "lark":
        return grammar
    schema = json.loads(grammar.text)
    schema.pop("x-guidance", None)
    return replace(grammar, text=json.dumps(schema))


def accepts(grammar: Grammar, text: str) -> bool:
    """Returns whether `text` is in the language of a Lark grammar, according to
    python-lark.
    """
    try:
        _parser(grammar.text).parse(text)
    except UnexpectedInput:
        return False
    return True


def decoder_verdict(grammar: Grammar | None, text: str) -> Verdict:
    """Returns how llguidance reads `text`, byte by byte.

    "unfinished" means that the text is only the beginning of one in the language. The
    grammar is a Lark grammar, a JSON schema, or None (free text), which accepts every
    text. Raises ConfigError if the grammar does not compile.
    """
    data = text.encode("utf-8", "surrogatepass")
    length, whole = decoder_prefix(grammar, data)
    if length < len(data):
        return "rejected"
    return "accepted" if whole else "unfinished"


def cut_character_verdict(grammar: Grammar | None, text: str) -> Verdict:
    """Returns how llguidance reads `text`, whose last character may have been cut by a
    limit: the beginning of its bytes is then decoded to one to three replacement
    characters.
    """
    for _ in range(_MOST_BYTES_CUT):
        if not text.endswith(_REPLACEMENT):
            break
        text = text.removesuffix(_REPLACEMENT)
        before = text.encode("utf-8", "surrogatepass")
        for first_byte in _FIRST_BYTES:
            length, _ = decoder_prefix(grammar, before + bytes([first_byte]))
            if length > len(before):
                return "unfinished"
    return "rejected"


def decoder_prefix(grammar: Grammar | None, data: bytes) -> tuple[int, bool]:
    """Returns how many bytes of `data` llguidance can read, and whether they are a
    complete text. Raises ConfigError if the grammar does not compile.
    """
    if grammar is None:
        return len(data), True
    matcher = LLMatcher(_byte_tokenizer(), for_decoder(grammar), log_level=0)
    if matcher.is_error():
        raise _malformed(grammar, 0, matcher.get_error().splitlines()[0])
    length = int(matcher.try_consume_tokens(list(data)))
    return length, bool(matcher.is_accepting())


def forced_text(grammar: Grammar) -> str:
    """Returns the text with which every text of the grammar begins."""
    matcher = LLMatcher(_byte_tokenizer(), for_decoder(grammar), log_level=0)
    return bytes(matcher.compute_ff_bytes()).decode()


@functools.cache
def _parser(text: str) -> lark.Lark:
    # LALR parses a file in milliseconds. Earley would accept any grammar, but takes up
    # to 250 ms.
    return lark.Lark(text, parser="lalr", maybe_placeholders=False)


@functools.cache
def _byte_tokenizer() -> LLTokenizer:
    return LLTokenizer("byte")  # token n is byte n


def for_decoder(grammar: Grammar) -> str:
    if grammar.kind == "lark":
        return str(LLMatcher.grammar_from_lark(grammar.text))
    return str(LLMatcher.grammar_from_json_schema(grammar.text))


def _malformed(grammar: Grammar, line: int, fault: str) -> ConfigError:
    """Returns the error for line `line` of the grammar's text, counted from 1 (0:
    unknown). Its message has the file and the line in that file.
    """
    place = f"the grammar {grammar.name!r}"
    if line > 0:
        place = f"{grammar.name}, line {line}"
    before = grammar.text.splitlines()[: max(line, 0)]
    for number, text in enumerate(before, start=1):
        if text.startswith(_PART_MARK):
            file = text.removeprefix(_PART_MARK)
            place = f"{file}, line {line - number}"
    reason = fault.strip().rstrip(".")
    return ConfigError(f"Malformed grammar in {place}: {reason}. Correct the file.")


def _line_of_name(text: str, message: str) -> int:
    """Returns the line that defines, or at least uses, a rule or terminal that the
    message names; 0 if there is none.
    """
    names = [re.escape(name) for name in re.findall(r"\w+", message)]
    patterns = [rf"[?!]?{name}\s*:" for name in names]  # of definitions
    for name in names:
        is_no_word = "_" in name or name.isupper()
        if is_no_word:
            patterns.append(rf".*\b{name}\b")
    for pattern in patterns:
        for number, line in enumerate(text.splitlines(), start=1):
            without_comment = line.split("//")[0]
            if re.match(pattern, without_comment):
                return number
    return 0
