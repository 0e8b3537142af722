"""The Python of docs/use/python.md, run as it stands; and how the library refuses
mistakes.
"""

import re
from pathlib import Path
from typing import Any

import pytest

import pddlego_local
from pddlego_local.core.errors import ConfigError, MissingPart
from tests.processes import ran
from tests.test_readme import DOMAIN

ROOT = Path(__file__).parents[1]


def test_the_pages_python_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs/use/python.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    monkeypatch.chdir(tmp_path)
    domain, problem = DOMAIN
    Path("domain.pddl").write_text(domain, encoding="utf-8")
    Path("problem.pddl").write_text(problem, encoding="utf-8")
    found: dict[str, Any] = {}
    exec(block, found)
    assert isinstance(found["verdict"], pddlego_local.Check)
    assert found["verdict"].accepted
    assert isinstance(found["result"], pddlego_local.PlanResult)
    assert found["result"].plan == ("(go)",)
    assert {answer.fault for answer in found["answers"]} == {""}
    frame = found["frame"]
    assert len(frame) == 4
    assert set(frame["decoding"]) == {"free", "grounded"}
    assert "success" in set(frame["outcome"])


def test_importing_it_loads_nothing_and_shows_what_there_is() -> None:
    program = (
        "import sys, pddlego_local; print(dir(pddlego_local), 'hydra' in sys.modules, "
        "'torch' in sys.modules, 'pddlego_local.core' in sys.modules)"
    )
    done = ran("-c", program)
    assert done.stdout.endswith("False False False\n")
    assert "'sample'" in done.stdout
    assert (ROOT / "pddlego_local" / "py.typed").exists()
    for name in pddlego_local.__all__:
        assert getattr(pddlego_local, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        pddlego_local.nonsense  # noqa: B018


def test_a_prompt_of_ones_own_and_what_no_grammar_can_know_of_it() -> None:
    (answer,) = pddlego_local.sample(
        "Write PDDL.", "random", "syntax", decoding__max_tokens=9
    )
    assert answer.fault == "truncated"
    assert answer.rung == "syntax"
    assert answer.text
    with pytest.raises(
        ConfigError, match="your own prompt can use free, json and syntax"
    ):
        pddlego_local.sample("Write PDDL.", "random", "grounded")
    with pytest.raises(MissingPart, match="nowhere/model"):
        pddlego_local.sample("Write PDDL.", "nowhere/model")
    with pytest.raises(ConfigError, match="knows only the questions of games"):
        pddlego_local.sample("Write PDDL.", "reference")


def test_mistakes_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"environment\.rooms=99"):
        pddlego_local.question(environment__rooms=99)
    with pytest.raises(ConfigError, match=r"no run\.json"):
        pddlego_local.load(tmp_path)
    with pytest.raises(ConfigError, match="write lines='episodes' or lines='calls'"):
        pddlego_local.load(tmp_path, lines="answers")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="nonsense"):
        pddlego_local.run(nonsense=[1, 2])
