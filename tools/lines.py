"""Counts the project's lines of code, without blank lines, comments and docstrings.

    python -m tools.lines

Prints the lines of each part, for the Python files that git tracks. Exits with 1 if a part exceeds
its budget. Files that belong to no other part are the product.
"""

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

BUDGETS = {
    "product": 22_000,
    "tools": 2_400,
    "tests": 22_000,
    "integrations": 500,  # four projects of at most 120, their tests, the table of rewards
    "examples": 300,
}
_LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(text: str) -> int:
    """Returns the lines of code of a Python file. A string that stands alone is a docstring."""
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    code = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in {tokenize.COMMENT, *_LAYOUT}
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(code - docstrings)


def counted(root: Path) -> Counter[str]:
    """Returns the lines of code by part."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=root, capture_output=True, text=True, check=True
    )
    found: Counter[str] = Counter()
    for path in map(Path, listed.stdout.splitlines()):
        if (root / path).is_file():
            part = path.parts[0] if path.parts[0] in BUDGETS else "product"
            found[part] += code_lines((root / path).read_text(encoding="utf-8"))
    return found


def main() -> int:
    lines = counted(Path(__file__).parents[1])
    for part, budget in BUDGETS.items():
        over = f", {lines[part] - budget:,} too many" if lines[part] > budget else ""
        if lines[part]:
            print(f"{part}: {lines[part]:,} lines of code of {budget:,}{over}")
    return 1 if any(lines[part] > budget for part, budget in BUDGETS.items()) else 0


if __name__ == "__main__":
    sys.exit(main())
