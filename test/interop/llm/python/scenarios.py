"""The scenarios of scenarios.ts, for clients in Python."""

from connection import Connection, Left, Question


def same(seen, expected):
    if seen != expected:
        raise AssertionError(f"{seen!r} instead of {expected!r}")


def nothing():
    pass


class Scenarios:
    def __init__(self, texts: dict):
        self.texts = texts
        refused = {str(status): self.refused(status) for status in texts["refused"]}
        self.by_name = {
            "text": self.text,
            "stream": self.stream,
            "usage": self.both(self.usage),
            "tools": self.both(lambda ask: self.two_turns(ask, ["Oslo"], self.done("Oslo"))),
            "parallel": self.both(lambda ask: self.two_turns(ask, ["Oslo", "Rome"], self.done("Oslo", "Rome"))),
            "runner": self.runner,
            "structured": self.structured,
            "image": self.both(self.image),
            "thinking": self.thinking(False),
            "thinking-stream": self.thinking(True),
            "refusal": self.both(self.refusal),
            "length": self.both(self.length),
            **refused,
            "stream-error": self.stream_error,
            "cut": self.cut,
            "abort": self.abort,
            **self.guarded(),
        }

    def both(self, check):
        def run(connection: Connection, _):
            check(connection.ask)
            check(lambda question: connection.stream(question, nothing))

        return run

    def result_of(self, city: str) -> str:
        return f"{city}: {len(city) * 3} degrees"

    def done(self, *cities: str) -> str:
        return f"It is done: {', '.join(map(self.result_of, cities))}."

    def text(self, connection, _):
        answer = connection.ask(Question(prompt=self.texts["prompt"]))
        same((answer.text, answer.reason), ("".join(self.texts["texts"]), "stop"))

    def stream(self, connection, _):
        pieces = []
        answer = connection.stream(Question(prompt=self.texts["prompt"]), lambda: pieces.append(1))
        same((answer.text, answer.reason), ("".join(self.texts["texts"]), "stop"))
        if len(pieces) < len(self.texts["texts"]):
            raise AssertionError(f"the text came in {len(pieces)} pieces")

    def usage(self, ask):
        expected = self.texts["usage"]
        same(ask(Question(prompt="Hi.")).usage, (expected["input"], expected["cached"], expected["output"]))

    def two_turns(self, ask, cities, last, **more):
        first = ask(Question(prompt="What is the weather?", offers_tools=True, **more))
        calls = [(name, given) for _, name, given in first.calls]
        same((first.reason, first.text, calls), ("calls", "I look.", [("weather", {"city": city}) for city in cities]))
        results = [(id, name, self.result_of(given["city"])) for id, name, given in first.calls]
        second = ask(Question(history=first.history, results=results, offers_tools=True, **more))
        same((second.reason, second.text, second.calls), ("stop", last, []))

    def runner(self, connection, _):
        asked = []

        def run(city):
            asked.append(city)
            return self.result_of(city)

        text = connection.run_tools(Question(prompt="What is the weather?", offers_tools=True), run)
        same((text, asked), (self.done("Oslo"), ["Oslo"]))

    def structured(self, connection, _):
        same(connection.parse(Question(prompt="Weather as JSON."), self.texts["schema"]), self.texts["weather"])

    def image(self, ask):
        same(ask(Question(prompt="What is this?", image=self.texts["dot"])).text, "A red dot.")

    def thinking(self, streamed):
        def run(connection, circumstances):
            ask = (lambda question: connection.stream(question, nothing)) if streamed else connection.ask
            last = "The thought came back." if circumstances["keeps_thoughts"] else "No thought came back."
            self.two_turns(ask, ["Oslo"], last, thinks=True)

        return run

    def refusal(self, ask):
        answer = ask(Question(prompt="Do evil."))
        same((answer.reason, answer.calls), ("refusal", []))

    def length(self, ask):
        answer = ask(Question(prompt="A story.", limit=16))
        same((answer.reason, answer.text), ("length", "Once upon"))

    def failure(self, connection, ask):
        try:
            answer = ask()
        except Exception as error:
            fault = connection.fault_of(error)
            if fault is None:
                raise
            return fault
        raise AssertionError(f"no failure but {answer.text!r}, {answer.reason}")

    def refused(self, status):
        def run(connection, circumstances):
            question = Question(prompt=self.texts["prompt"])
            for ask in (lambda: connection.ask(question), lambda: connection.stream(question, nothing)):
                fault = self.failure(connection, ask)
                same(fault.status, status)
                if self.texts["error"] not in fault.message:
                    raise AssertionError(fault.message)
                kind = circumstances["errors"].get(status)
                if kind is not None:
                    same(fault.kind, kind)
                if status == 429:
                    same(fault.retry_after, self.texts["retryAfter"])

        return run

    def stream_error(self, connection, _):
        pieces = []
        question = Question(prompt=self.texts["prompt"])
        fault = self.failure(connection, lambda: connection.stream(question, lambda: pieces.append(1)))
        if self.texts["error"] not in fault.message:
            raise AssertionError(fault.message)
        if not pieces:
            raise AssertionError("no text came before the error")

    def cut(self, connection, _):
        pieces = []
        question = Question(prompt=self.texts["prompt"])
        self.failure(connection, lambda: connection.stream(question, lambda: pieces.append(1)))
        if not pieces:
            raise AssertionError("no text came before the end")

    def abort(self, connection, circumstances):
        def leave():
            raise Left

        try:
            connection.stream(Question(prompt=self.texts["prompt"]), leave)
            raise AssertionError("no text came")
        except Left:
            pass
        if not circumstances["has_left"]():
            raise AssertionError("the provider did not notice")

    def guarded(self):
        guard = self.texts["guard"]
        return {
            "guard-refused": self.guard_refused("Say the forbidden word.", 403, guard["message"]),
            "guard-refused-json": self.guard_refused("Say the forbidden object.", 422, guard["objectMessage"]),
            "guard-judged": self.guard_refused("Say something unspeakable.", 403, guard["verdict"]),
            "guard-failed": self.guard_refused("Say something unjudgeable.", 503, "prompt guard failed"),
            "guard-rejected": self.guard_refused("Hello.", 403, guard["verdict"]),
            "guard-masked": self.both(self.guard_masked),
            "guard-structured": self.guard_structured,
            "guard-blocked": self.guard_ended(guard["verdict"]),
            "guard-broken": self.guard_ended("prompt guard failed"),
        }

    def guard_refused(self, prompt, status, message):
        def run(connection, circumstances):
            question = Question(prompt=prompt)
            for ask in (lambda: connection.ask(question), lambda: connection.stream(question, nothing)):
                fault = self.failure(connection, ask)
                same(fault.status, status)
                if message not in fault.message:
                    raise AssertionError(fault.message)
                kind = circumstances["errors"].get(status)
                if kind is not None:
                    same(fault.kind, kind)

        return run

    def guard_masked(self, ask):
        guard = self.texts["guard"]
        first = ask(Question(prompt="Where is Ann?", offers_tools=True))
        calls = [(name, given) for _, name, given in first.calls]
        expected = ("calls", f"Write to {guard['mask']}!", [("weather", {"city": guard["mask"]})])
        same((first.reason, first.text, calls), expected)
        results = [(id, name, guard["result"]) for id, name, _ in first.calls]
        same(ask(Question(history=first.history, results=results, offers_tools=True)).text, "Done.")

    def guard_structured(self, connection, _):
        parsed = connection.parse(Question(prompt="Weather as JSON."), self.texts["schema"])
        same(parsed, {"city": self.texts["guard"]["mask"], "degrees": 12})

    def guard_ended(self, message):
        def run(connection, _):
            pieces = []
            fault = self.failure(connection, lambda: connection.stream(Question(prompt="Hello."), lambda: pieces.append(1)))
            if message not in fault.message:
                raise AssertionError(fault.message)
            if not pieces:
                raise AssertionError("no text came before the error")

        return run
