"""The pairs in Python: `pair.py server` prints its port; `pair.py client URL MODE TARGET` prints the outcomes as JSON.

MODE is `legacy`, `auto` or `sse`.
"""

import json
import logging
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated

import anyio
import uvicorn
from mcp import Client
from mcp.client.sse import sse_client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve, Sample
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CreateMessageResult, ElicitResult, SamplingMessage, TextContent
from pydantic import BaseModel


class Events(EventStore):
    def __init__(self) -> None:
        self.events = []

    async def store_event(self, stream_id, message):
        self.events.append((stream_id, message))
        return str(len(self.events) - 1)

    async def replay_events_after(self, last_event_id, send_callback):
        stream = self.events[int(last_event_id)][0]
        for index, (stream_id, message) in enumerate(list(self.events)):
            if index > int(last_event_id) and stream_id == stream and message is not None:
                await send_callback(EventMessage(message, str(index)))
        return stream


class Name(BaseModel):
    name: str


def ask_name() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


def ask_model() -> Sample:
    return Sample([SamplingMessage(role="user", content=TextContent(type="text", text="Say something"))], max_tokens=10)


def build() -> MCPServer:
    server = MCPServer("python")
    cancellations = 0

    @server.tool(structured_output=False)
    def add(a: int, b: int) -> str:
        return str(a + b)

    @server.tool(structured_output=False)
    def ask(answer: Annotated[Name, Resolve(ask_name)]) -> str:
        return f"hello {answer.name}"

    @server.tool(structured_output=False)
    def sample(answer: Annotated[CreateMessageResult, Resolve(ask_model)]) -> str:
        return f"model said {answer.content.text}"

    @server.tool(structured_output=False)
    async def count(context: Context) -> str:
        for progress in (1, 2, 3):
            await context.report_progress(progress, 3)
            await anyio.sleep(0.02)
        return "counted"

    @server.tool(structured_output=False)
    async def wait() -> str:
        nonlocal cancellations
        try:
            await anyio.sleep(10)
        except anyio.get_cancelled_exc_class():
            cancellations += 1
            raise
        return "waited"

    @server.tool(name="cancellations", structured_output=False)
    def tell() -> str:
        return str(cancellations)

    @server.tool(structured_output=False)
    async def later(context: Context) -> str:
        await context.close_sse_stream()
        await anyio.sleep(0.3)
        return "resumed"

    @server.resource("note://one")
    def one() -> str:
        return "one"

    @server.prompt()
    def greet() -> str:
        return "Hello"

    return server


async def serve() -> None:
    open_to_all = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server = build()
    app = server.streamable_http_app(event_store=Events(), retry_interval=100, transport_security=open_to_all)
    app.router.routes.extend(server.sse_app(transport_security=open_to_all).routes)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(100)
    print(listener.getsockname()[1], flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)).serve([listener])


async def on_elicit(_context, _params) -> ElicitResult:
    return ElicitResult(action="accept", content={"name": "Ada"})


async def on_sample(_context, _params) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text="hi"), model="test")


def equals(seen: object, expected: object) -> None:
    if seen != expected:
        raise AssertionError(f"{seen!r} instead of {expected!r}")


class Scenarios:
    def __init__(self, client: Client, target: str) -> None:
        self.client = client
        self.name = lambda name: f"{target}_{name}" if target else name
        self.uri = lambda uri: f"{target}+{uri}" if target else uri

    async def tool(self, name: str, values: dict | None = None, **options) -> str:
        result = await self.client.call_tool(self.name(name), values or {}, **options)
        return result.content[0].text

    async def list(self) -> None:
        tools = [tool.name for tool in (await self.client.list_tools()).tools]
        resources = [str(resource.uri) for resource in (await self.client.list_resources()).resources]
        prompts = [prompt.name for prompt in (await self.client.list_prompts()).prompts]
        for items, item in (tools, self.name("add")), (resources, self.uri("note://one")), (prompts, self.name("greet")):
            if item not in items:
                raise AssertionError(f"no {item} among {items}")
        equals((await self.client.read_resource(self.uri("note://one"))).contents[0].text, "one")
        equals((await self.client.get_prompt(self.name("greet"))).messages[0].content.text, "Hello")

    async def call(self) -> None:
        equals(await self.tool("add", {"a": 2, "b": 3}), "5")

    async def elicitation(self) -> None:
        equals(await self.tool("ask"), "hello Ada")

    async def sampling(self) -> None:
        equals(await self.tool("sample"), "model said hi")

    async def progress(self) -> None:
        seen = []

        async def note(progress: float, _total: float | None, _message: str | None) -> None:
            seen.append(int(progress))

        equals(await self.tool("count", progress_callback=note), "counted")
        equals(seen, [1, 2, 3])

    async def cancel(self) -> None:
        before = int(await self.tool("cancellations"))
        # On a busy machine the call may be cancelled before it has begun.
        for delay in (0.3, 1, 3):
            with anyio.move_on_after(delay):
                await self.tool("wait")
                raise AssertionError("the call ended before it was cancelled")
            for _ in range(20):
                if int(await self.tool("cancellations")) > before:
                    return
                await anyio.sleep(0.1)
        raise AssertionError("the server was not told")

    async def resume(self) -> None:
        equals(await self.tool("later"), "resumed")


async def outcome(url: str, mode: str, target: str, scenario: str) -> str:
    server = sse_client(url) if mode == "sse" else url
    kind = "legacy" if mode == "sse" else mode
    try:
        with anyio.fail_after(25):
            async with Client(server, mode=kind, elicitation_callback=on_elicit, sampling_callback=on_sample) as client:
                await getattr(Scenarios(client, target), scenario)()
    except BaseException as error:
        return explain(error)
    return "ok"


def explain(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return "no end within 25 s"
    return (str(error) or type(error).__name__).split("\n")[0]


SCENARIOS: tuple[str, ...] = ("list", "call", "elicitation", "sampling", "progress", "cancel", "resume")


async def meet(url: str, mode: str, target: str) -> None:
    cannot = {"resume": "- HTTP with SSE has no resumption"} if mode == "sse" else {}
    outcomes = {one: cannot.get(one) or await outcome(url, mode, target, one) for one in SCENARIOS}
    print(json.dumps(outcomes))


logging.disable()
run: Callable[[], Awaitable[None]] = serve if sys.argv[1] == "server" else lambda: meet(*sys.argv[2:5])
anyio.run(run)
