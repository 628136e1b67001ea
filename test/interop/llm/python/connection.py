"""What scenarios need of a client, whatever its API."""

from dataclasses import dataclass, field
from typing import Any, Callable


@dataclass(frozen=True)
class Target:
    url: str  # http://127.0.0.1:1234/<upstream>
    upstream: dict
    headers: dict
    texts: dict  # what both sides of the test say


@dataclass(frozen=True)
class Question:
    prompt: str | None = None
    image: str | None = None  # base64 of a PNG
    offers_tools: bool = False
    thinks: bool = False
    limit: int | None = None
    history: Any = None  # of the answer that it follows
    results: list = field(default_factory=list)  # (id, name, text)


@dataclass(frozen=True)
class Answer:
    text: str
    calls: list  # (id, name, input)
    reason: str  # stop, length, calls, refusal
    usage: tuple  # input with what a cache had, of that cached, output
    history: Any  # everything until here, in the words of the client


@dataclass(frozen=True)
class Fault:
    status: int | None
    message: str
    retry_after: str | None
    kind: str


class Connection:
    """One client for one upstream and scenario."""

    def __init__(self, target: Target):
        self.target = target
        self.model = target.upstream["model"]

    def ask(self, question: Question) -> Answer:
        raise NotImplementedError

    def stream(self, question: Question, on_text: Callable[[], None]) -> Answer:
        raise NotImplementedError

    def parse(self, question: Question, schema: dict) -> Any:
        raise NotImplementedError

    def run_tools(self, question: Question, run: Callable[[str], str]) -> str:
        raise NotImplementedError

    def fault_of(self, error: Exception) -> Fault | None:
        raise NotImplementedError

    def checks(self) -> dict:
        """What only this client does, by name."""
        return {}


class Left(Exception):
    """Raised by on_text: the client leaves the stream."""
