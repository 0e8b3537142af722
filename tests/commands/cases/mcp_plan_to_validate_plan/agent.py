import asyncio
import json
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

DOMAIN, PROBLEM = (
    Path(name).read_text(encoding="utf-8") for name in ("domain.pddl", "problem.pddl")
)


async def main() -> None:
    server = StdioServerParameters(command="pddlego", args=["mcp"])
    async with (
        stdio_client(server) as (reading, writing),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        files = {"domain": DOMAIN, "problem": PROBLEM}
        made = await session.call_tool("plan_pddl", files)
        plan = json.loads(made.content[0].text)["plan"]
        print(plan)
        said = await session.call_tool("validate_plan", {**files, "plan": plan})
        print(said.content[0].text)


asyncio.run(main())
