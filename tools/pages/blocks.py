"""Blocks of a page: the parts between two markers, which Markdown does not show."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tools.pages.records import Records

_BLOCK = re.compile(r"<!-- records: ([^>]+) -->(.*?)<!-- end -->", re.DOTALL)


@dataclass(frozen=True)
class Page:
    """A page below the repository's root, and the functions that make its blocks, by
    name.
    """

    path: str
    blocks: Mapping[str, Callable[[Records], str]]


def regenerated(text: str, page: Page, records: Records) -> str:
    """Returns the page's text with all blocks made anew.

    A block that stands within a line stays within it. Raises ValueError for a block
    that no function makes, and for a function whose block is not on the page.
    """
    on_page = {name for name, _ in _BLOCK.findall(text)}
    if on_page != page.blocks.keys():
        differing = ", ".join(sorted(on_page ^ page.blocks.keys()))
        raise ValueError(
            f"{page.path}: only the page or only its module has these: {differing}"
        )

    def made(block: re.Match[str]) -> str:
        name, before = block.groups()
        content = page.blocks[name](records).strip()
        around = "\n\n" if "\n" in before else ""
        return f"<!-- records: {name} -->{around}{content}{around}<!-- end -->"

    return _BLOCK.sub(made, text)
