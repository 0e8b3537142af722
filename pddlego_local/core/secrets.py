"""Hides secrets (keys, tokens, passwords) in everything that is written or shown.

A value is a secret if its name says so (`api_key`, `HF_TOKEN`, `password`), if it
stands before the host in an address (http://USER:PASSWORD@HOST), or if it looks like a
token of a known service. Other values are no secrets, whether or not they come from an
environment variable.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

HIDDEN = "<secret>"

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:apikey|auth|authorization|bearer|cookie|credentials?|passphrase|passwd"
    r"|password|pat|pwd|secrets?|token|(?:access|account|api|auth|encryption|private"
    r"|secret|server|service|signing|ssh|subscription)_key)$"
)
_TOKEN_OF_A_TEXT = re.compile(
    r"(?:^|_)(?:begin|bos|cls|end|eos|first|forced|image|last|mask|new|next|pad|per|sep"
    r"|special|start|stop|unexpected|unk)_token$"
)
_NO_SECRETS = frozenset(("", "none", "null", "empty", "???", "true", "false", HIDDEN))
_LEAST_KNOWN = 4  # characters; a shorter secret would be found in innocent words
_LEAST_IN_DATA = 16  # characters; only a real key is as long, and no word of a game

_AUTHORITY = re.compile(
    r"(?i)\b(?P<scheme>https?|wss?|ftp)"
    r"://(?P<user>[^/\s?#'\"<>@]*(?:@[^/\s?#'\"<>@]*)*)@"
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
    last_part = name.rpartition(".")[2]
    in_words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", last_part)
    in_snake_case = re.sub(r"[\W_]+", "_", in_words).strip("_").lower()
    if _TOKEN_OF_A_TEXT.search(in_snake_case):
        return False
    return bool(_SECRET_NAME.search(in_snake_case))


def _is_secret(value: object) -> bool:
    """Returns whether a value with a secret's name is one: not "none", and no reference
    to it.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    text = str(value).strip("\"'")
    is_reference = re.fullmatch(r"\$\{[^{}]*\}", text)
    return text.lower() not in _NO_SECRETS and not is_reference


def _with_leaves(tree: Any, change: Callable[[Any, bool], Any], named: bool) -> Any:
    """Returns a JSON value with `change(leaf, named)` in place of each leaf; `named`
    says whether the leaf has a secret's name, for example behind the word --api-key.
    """
    if isinstance(tree, Mapping):
        return {
            key: _with_leaves(value, change, named or is_secret_name(str(key)))
            for key, value in tree.items()
        }
    if not isinstance(tree, list | tuple):
        return change(tree, named)
    changed = []
    behind_flag = False
    for value in tree:
        changed.append(_with_leaves(value, change, named or behind_flag))
        is_flag = isinstance(value, str) and value.startswith("--")
        behind_flag = is_flag and is_secret_name(value)
    return changed


def secrets_of(tree: object) -> frozenset[str]:
    """Returns the secrets in a configuration that are long enough to be found in a
    text.
    """
    found = set[str]()

    def collect(leaf: Any, named: bool) -> None:
        if named and _is_secret(leaf):
            found.add(str(leaf))
        elif isinstance(leaf, str):
            for address in _AUTHORITY.finditer(leaf):
                _, _, password = address["user"].partition(":")
                found.add(password)

    _with_leaves(tree, collect, named=False)
    return frozenset(secret for secret in found if len(secret) >= _LEAST_KNOWN)


def hidden(tree: Any, known: Iterable[str] = (), *, named: bool = False) -> Any:
    """Returns a JSON value with `HIDDEN` in place of each secret. `known` are further
    secrets. With `named`, the value has a secret's name.
    """

    def shown(leaf: Any, named: bool) -> Any:
        if named and _is_secret(leaf):
            return HIDDEN
        return hidden_in_word(leaf, known) if isinstance(leaf, str) else leaf

    return _with_leaves(tree, shown, named)


def hidden_in_word(word: str, known: Iterable[str] = ()) -> str:
    """Returns a word of a command, which can be OPTION=VALUE, without its secrets."""
    name, equals, value = word.partition("=")
    is_option = equals and re.fullmatch(r"[-+~\w.]+", name)
    if is_option and is_secret_name(name):
        return f"{name}={HIDDEN}" if _is_secret(value) else word
    return hidden_in_text(word, known)


def hidden_in_text(text: str, known: Iterable[str] = ()) -> str:
    """Returns a text, such as a message, without its secrets."""
    for secret in sorted(known, key=len, reverse=True):
        whole_word = rf"(?<!\w){re.escape(secret)}(?!\w)"
        text = re.sub(whole_word, HIDDEN, text)
    text = _AUTHORITY.sub(_without_password, text)
    text = _QUERY.sub(rf"\1{HIDDEN}", text)
    text = _NAMED.sub(_without_value, text)
    text = _FLAG.sub(_without_value, text)
    text = _SCHEME.sub(rf"\1\2{HIDDEN}", text)
    return _TOKENS.sub(HIDDEN, text)


def _without_password(match: re.Match[str]) -> str:
    user, colon, _ = match["user"].partition(":")
    shown = f"{user}:{HIDDEN}" if colon else HIDDEN
    return f"{match['scheme']}://{shown}@"


def _without_value(match: re.Match[str]) -> str:
    name = match["name"]
    value = match["value"]
    looks_like_a_name = re.search(r"[\W_]|(?i:password|authorization)", name)
    in_prose = match["is"].lstrip().startswith(":") and not looks_like_a_name
    if in_prose or not is_secret_name(name) or not _is_secret(value):
        return match[0]
    return f"{name}{match['is']}{HIDDEN}"


def without_secrets(tree: Any) -> Any:
    """Returns a JSON value as it would be if no secret had been given: without the keys
    that name one, and without the user in an address.
    """
    if isinstance(tree, Mapping):
        return {
            key: without_secrets(value)
            for key, value in tree.items()
            if not is_secret_name(str(key))
        }
    if isinstance(tree, list | tuple):
        return [without_secrets(value) for value in tree]
    if isinstance(tree, str):
        return _AUTHORITY.sub(r"\g<scheme>://", tree)
    return tree


def hidden_in_data(line: str, known: Iterable[str]) -> str:
    """Returns a line of data, which may hold a model's text: only whole known keys are
    hidden.
    """
    for secret in known:
        if len(secret) >= _LEAST_IN_DATA:
            line = line.replace(secret, HIDDEN)
    return line
