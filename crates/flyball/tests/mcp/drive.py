"""Drives an MCP server with the official Python SDK.

drive.py tools COMMAND ARGS…   every tool of `flyball mcp`, good and bad, over stdio
drive.py http URL TOKEN        the same over streamable HTTP
drive.py guard COMMAND ARGS…   server-everything behind `flyball mcp-guard`
"""

import asyncio
import inspect
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

try:
    from mcp.client.streamable_http import streamable_http_client
except ImportError:
    from mcp.client.streamable_http import streamablehttp_client as streamable_http_client


def failed(result):
    return getattr(result, "is_error", None) or getattr(result, "isError", None)


def structured(result):
    found = getattr(result, "structured_content", None)
    return found if found is not None else getattr(result, "structuredContent", None)


def texts(result):
    return [item.text for item in result.content if item.type == "text"]


async def good(session, tool, arguments):
    result = await session.call_tool(tool, arguments)
    assert not failed(result), (tool, result)
    value = structured(result)
    assert value is not None, tool
    return value


async def tools(session):
    hello = await session.initialize()
    info = getattr(hello, "server_info", None) or hello.serverInfo
    assert info.name == "flyball", info
    listed = {tool.name for tool in (await session.list_tools()).tools}
    assert len(listed) == 15, listed
    used = set()

    async def use(tool, arguments):
        used.add(tool)
        return await good(session, tool, arguments)

    started = await use("iteration_start", {
        "task": "US-1", "max_iterations": 5,
        "validation_rules": [{"type": "command", "command": "test -f done"}],
    })
    judged = await use("iteration_validate", started)
    assert judged["signal"] == "CONTINUE", judged
    going = await use("iteration_next", judged)
    assert going["can_continue"], going
    refused = await session.call_tool("iteration_complete", going)
    assert failed(refused) and "validation fails" in texts(refused)[0], refused
    open("done", "w").close()
    ended = await use("iteration_complete", {
        "iteration_id": started["iteration_id"], "promise": "<promise>COMPLETE</promise>",
    })
    assert ended["completed"], ended
    await use("task_list", {})
    plan = await use("plan_next", {})
    assert plan["mode"] == "review", plan
    await use("task_update", {"task": plan["task"], "review_status": "approved", "notes": "n"})
    tried = await use("attempt_record", {"task": "US-2", "status": "in_progress"})
    await use("loop_check", tried)
    await use("loop_status", {})
    await use("context_list", {})
    gates = await use("gate_run", {})
    assert gates["green"], gates
    asked = await use("call_check", {"tool": "t", "arguments": {"x": 1}})
    await use("call_result", {**asked, "output": "out"})
    await use("ask_human", {"question": "A or B?"})
    assert used == listed, listed - used

    wrong = await session.call_tool("iteration_start", {"task": 7, "max_iterations": 1})
    assert failed(wrong) and "task" in texts(wrong)[0], wrong
    try:
        await session.call_tool("no_such_tool", {})
        raise AssertionError("an unknown tool must be a protocol error")
    except AssertionError:
        raise
    except Exception as error:
        assert "no_such_tool" in str(error), error
    resources = (await session.list_resources()).resources
    assert len(resources) == 3
    for resource in resources:
        contents = (await session.read_resource(resource.uri)).contents
        assert contents[0].text.startswith("{"), contents
    prompt = await session.get_prompt("orient")
    assert "flyball" in prompt.messages[0].content.text


async def guard(session):
    await session.initialize()
    listed = {tool.name for tool in (await session.list_tools()).tools}
    assert "echo" in listed, listed
    counts = []
    for _ in range(6):
        result = await session.call_tool("echo", {"message": "hello"})
        counts.append((len(texts(result)), bool(failed(result))))
    assert counts == [(1, False), (1, False), (2, False), (1, False), (1, False), (1, True)], counts
    total = await session.call_tool("get-sum", {"a": 2, "b": 3})
    assert "5" in texts(total)[0], total
    seen = []

    async def on_progress(progress, total, message):
        seen.append(progress)

    await session.call_tool(
        "trigger-long-running-operation", {"duration": 1, "steps": 2},
        progress_callback=on_progress,
    )
    assert len(seen) >= 2, seen
    weather = await session.call_tool("get-structured-content", {"location": "Chicago"})
    assert structured(weather), weather


def over_http(url, token):
    headers = {"Authorization": f"Bearer {token}"}
    if "headers" in inspect.signature(streamable_http_client).parameters:
        return streamable_http_client(url, headers=headers)
    from mcp.shared._httpx_utils import create_mcp_http_client

    return streamable_http_client(url, http_client=create_mcp_http_client(headers=headers))


async def main():
    what, rest = sys.argv[1], sys.argv[2:]
    work = {"tools": tools, "http": tools, "guard": guard}[what]
    if what == "http":
        opened = over_http(rest[0], rest[1])
    else:
        opened = stdio_client(StdioServerParameters(command=rest[0], args=rest[1:], env=dict(__import__("os").environ)))
    async with opened as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await work(session)
    print("ok")


asyncio.run(main())
