import anthropic
from connection import Answer, Connection, Fault, Question

REASONS = {"end_turn": "stop", "max_tokens": "length", "tool_use": "calls", "refusal": "refusal"}
ERRORS = {
    400: "BadRequestError",
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    422: "UnprocessableEntityError",
    429: "RateLimitError",
    500: "InternalServerError",
    503: "ServiceUnavailableError",
    529: "OverloadedError",
}


def client_of(target):
    return anthropic.Anthropic(base_url=target.url, api_key="k", max_retries=0, default_headers=target.headers)


class Messages(Connection):
    def __init__(self, target):
        super().__init__(target)
        self.client = client_of(target)

    def fault_of(self, error):
        if not isinstance(error, anthropic.APIError):
            return None
        response = getattr(error, "response", None)
        retry_after = response.headers.get("retry-after") if response is not None else None
        return Fault(getattr(error, "status_code", None), error.message, retry_after, type(error).__name__)

    def params(self, question: Question) -> dict:
        params = {
            "model": self.model,
            "max_tokens": question.limit or 4096,
            "system": "Be brief.",
            "messages": self.turns(question),
        }
        if question.offers_tools:
            tool = self.target.texts["tool"]
            schema = tool["parameters"]
            params["tools"] = [{"name": tool["name"], "description": tool["description"], "input_schema": schema}]
        if question.thinks:
            adaptive = self.target.upstream.get("adaptive")
            params["thinking"] = {"type": "adaptive"} if adaptive else {"type": "enabled", "budget_tokens": 1024}
        return params

    def turns(self, question: Question) -> list:
        turns = list(question.history or [])
        results = [{"type": "tool_result", "tool_use_id": id, "content": text} for id, _, text in question.results]
        if results:
            return [*turns, {"role": "user", "content": results}]
        content = [{"type": "text", "text": question.prompt}]
        if question.image is not None:
            source = {"type": "base64", "media_type": "image/png", "data": question.image}
            content.insert(0, {"type": "image", "source": source})
        return [*turns, {"role": "user", "content": content}]

    def answer(self, message, turns) -> Answer:
        text = "".join(block.text for block in message.content if block.type == "text")
        calls = [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
        usage = message.usage
        counts = (usage.input_tokens + (usage.cache_read_input_tokens or 0), usage.cache_read_input_tokens, usage.output_tokens)
        # The blocks themselves, as the vendor shows it.
        history = [*turns, {"role": "assistant", "content": message.content}]
        return Answer(text, calls, REASONS.get(message.stop_reason, message.stop_reason), counts, history)

    def ask(self, question):
        params = self.params(question)
        return self.answer(self.client.messages.create(**params), params["messages"])

    def stream(self, question, on_text):
        params = self.params(question)
        with self.client.messages.stream(**params) as stream:
            for _ in stream.text_stream:
                on_text()
            return self.answer(stream.get_final_message(), params["messages"])

    def parse(self, question, schema):
        import pydantic

        weather = pydantic.create_model("Weather", city=(str, ...), degrees=(int, ...))
        return self.client.messages.parse(**self.params(question), output_format=weather).parsed_output.model_dump()

    def run_tools(self, question, run):
        @anthropic.beta_tool
        def weather(city: str) -> str:
            """The weather of a city."""
            return run(city)

        runner = self.client.beta.messages.tool_runner(
            model=self.model,
            max_tokens=4096,
            messages=[{"role": "user", "content": question.prompt}],
            tools=[weather],
        )
        return "".join(block.text for block in runner.until_done().content if block.type == "text")


class Others(Connection):
    """Token counts and models."""

    def checks(self):
        client = client_of(self.target)

        def count():
            messages = [{"role": "user", "content": "How many tokens are these?"}]
            tokens = client.messages.count_tokens(model=self.model, messages=messages).input_tokens
            # Other providers do not count: the gateway estimates.
            assert tokens == 42 if "claude" in self.model else 3 < tokens < 20, tokens

        def models():
            ids = [model.id for model in client.models.list()]
            assert self.target.texts["alias"] in ids, ids

        return {"count": count, "models": models}
