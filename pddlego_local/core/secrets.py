"""Hides secrets (keys, tokens, passwords) in everything that is written or shown.

A value is a secret if its name says so (`api_key`, `HF_TOKEN`, `password`), if it
stands before the host in an address (http://USER:PASSWORD@HOST), or if it looks like a
token of a known service. Other values are no secrets, whether or not they come from an
environment variable.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

HIDDEN = "<secret>"

_LAST_WORDS = (
    *(
        "apikey",
        "auth",
        "authorization",
        "bearer",
        "cookie",
        "credential",
        "credentials",
    ),
    *("passphrase", "passwd", "password", "pat", "pwd", "secret", "secrets", "token"),
)
_BEFORE_KEY = (
    *("access", "account", "api", "auth", "encryption", "private", "secret", "server"),
    *("service", "signing", "ssh", "subscription"),
)
_BEFORE_TOKEN = (  # tokens of a text, not of an account
    *(
        "begin",
        "bos",
        "cls",
        "end",
        "eos",
        "first",
        "forced",
        "image",
        "last",
        "mask",
        "new",
    ),
    *("next", "pad", "per", "sep", "special", "start", "stop", "unexpected", "unk"),
)
_NO_SECRETS = frozenset(("", "none", "null", "empty", "???", "true", "false", HIDDEN))
_LEAST_KNOWN = 4  # characters; a shorter secret would be found in innocent words
_LEAST_IN_DATA = 16  # characters; only a real key is as long, and no word of a game

_AUTHORITY = re.compile(
    r"(?i)\b(https?|wss?|ftp)://([^/\s?#'\"<>@]*(?:@[^/\s?#'\"<>@]*)*)@"
)
_QUERY = re.compile(r"(?i)([?&](?:key|sig|signature|code)=)[^&\s#'\"]+")
# A name begins where no other one goes on: else the time would be quadratic for a text
# of one word.
_NAMED = re.compile(
    r"""(?<![\w.-])(?P<name>[\w.-]*[A-Za-z])(?P<is>["']?\s*(?:=|:(?!//))\s*)"""
    r"""(?P<value>"[^"]*"|'[^']*'|\$\{[^{}]*\}|[^\s,;&{}\[\]"']+)"""
)
_FLAG = re.compile(
    r"""(?<![\w-])(?P<name>--[\w-]+)(?P<is>["']?[\s,]+["']?)(?P<value>[^\s,"'\]]+)"""
)
_SCHEME = re.compile(r"(?i)\b(Bearer|Basic)(\s+)[\w.~+/=-]{4,}")
_TOKENS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{20,}|sk-[\w-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}"
    r"|glpat-[\w-]{20,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{35})"
)


def is_secret_name(name: str) -> bool:
    """Returns whether a value of this name is a secret: an option, a variable, a flag,
    a header.
    """
    last = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name.rpartition(".")[2])
    before, word = ["", "", *filter(None, re.split(r"[\W_]+", last.lower()))][-2:]
    if word == "key":
        return before in _BEFORE_KEY
    return word in _LAST_WORDS and not (word == "token" and before in _BEFORE_TOKEN)


def _is_secret(value: object) -> bool:
    """Returns whether a value with a secret's name is one: not "none", and no reference
    to it.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    text = str(value).strip("\"'")
    return text.lower() not in _NO_SECRETS and not re.fullmatch(r"\$\{[^{}]*\}", text)


def secrets_of(tree: object) -> frozenset[str]:
    """Returns the secrets in a configuration that are long enough to be found in a
    text.
    """
    return frozenset(one for one in _found(tree) if len(one) >= _LEAST_KNOWN)


def _found(tree: object, named: bool = False) -> Iterator[str]:
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from _found(value, named or is_secret_name(str(key)))
    elif isinstance(tree, list | tuple):
        for before, value in zip([None, *tree], tree, strict=False):
            yield from _found(value, named or _is_flag(before))
    elif named and _is_secret(tree):
        yield str(tree)
    elif isinstance(tree, str):
        yield from (match[2].partition(":")[2] for match in _AUTHORITY.finditer(tree))


def _is_flag(word: object) -> bool:
    """Returns whether the next word of a command is a secret, as after --api-key."""
    return isinstance(word, str) and word.startswith("--") and is_secret_name(word)


def hidden(tree: Any, known: Iterable[str] = (), *, named: bool = False) -> Any:
    """Returns a JSON value with `HIDDEN` in place of each secret. `known` are further
    secrets. With `named`, the value has a secret's name.
    """
    if isinstance(tree, Mapping):
        return {
            key: hidden(value, known, named=named or is_secret_name(str(key)))
            for key, value in tree.items()
        }
    if isinstance(tree, list | tuple):
        befores = [None, *tree]
        return [
            hidden(value, known, named=named or _is_flag(before))
            for before, value in zip(befores, tree, strict=False)
        ]
    if named and _is_secret(tree):
        return HIDDEN
    return hidden_in_word(tree, known) if isinstance(tree, str) else tree


def hidden_in_word(word: str, known: Iterable[str] = ()) -> str:
    """Returns a word of a command, which can be OPTION=VALUE, without its secrets."""
    name, equals, value = word.partition("=")
    if equals and re.fullmatch(r"[-+~\w.]+", name) and is_secret_name(name):
        return f"{name}={HIDDEN}" if _is_secret(value) else word
    return hidden_in_text(word, known)


def hidden_in_text(text: str, known: Iterable[str] = ()) -> str:
    """Returns a text, such as a message, without its secrets."""
    for secret in sorted(known, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
    text = _AUTHORITY.sub(_without_password, text)
    text = _QUERY.sub(rf"\1{HIDDEN}", text)
    text = _NAMED.sub(_without_value, text)
    text = _FLAG.sub(_without_value, text)
    text = _SCHEME.sub(rf"\1\2{HIDDEN}", text)
    return _TOKENS.sub(HIDDEN, text)


def _without_password(match: re.Match[str]) -> str:
    user, colon, _ = match[2].partition(":")
    return f"{match[1]}://{user}:{HIDDEN}@" if colon else f"{match[1]}://{HIDDEN}@"


def _without_value(match: re.Match[str]) -> str:
    name, value = match["name"], match["value"]
    is_no_word = re.search(r"[\W_]|(?i:password|authorization)", name)
    in_prose = match["is"].lstrip().startswith(":") and not is_no_word
    if in_prose or not is_secret_name(name) or not _is_secret(value):
        return match[0]
    return f"{name}{match['is']}{HIDDEN}"


def without_secrets(tree: Any) -> Any:
    """Returns a JSON value as it would be if no secret had been given: without the keys
    that name one, and without the user in an address.
    """
    if isinstance(tree, Mapping):
        kept = {
            key: value for key, value in tree.items() if not is_secret_name(str(key))
        }
        return {key: without_secrets(value) for key, value in kept.items()}
    if isinstance(tree, list | tuple):
        return [without_secrets(value) for value in tree]
    return _AUTHORITY.sub(r"\1://", tree) if isinstance(tree, str) else tree


def hidden_in_data(line: str, known: Iterable[str]) -> str:
    """Returns a line of data, which may hold a model's text: only whole known keys are
    hidden.
    """
    for secret in known:
        if len(secret) >= _LEAST_IN_DATA:
            line = line.replace(secret, HIDDEN)
    return line
