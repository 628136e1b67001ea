import json

import openai
from connection import Answer, Connection, Fault, Question

REASONS = {"stop": "stop", "length": "length", "tool_calls": "calls", "content_filter": "refusal"}
ERRORS = {
    400: "BadRequestError",
    401: "AuthenticationError",
    403: "PermissionDeniedError",
    422: "UnprocessableEntityError",
    429: "RateLimitError",
    500: "InternalServerError",
    503: "InternalServerError",
    529: "InternalServerError",
}


def fault_of(error):
    if isinstance(error, FailedResponse):
        return Fault(None, str(error), None, "failed")
    if not isinstance(error, openai.APIError):
        return None
    response = getattr(error, "response", None)
    retry_after = response.headers.get("retry-after") if response is not None else None
    # A text that is not JSON is shown only here.
    plain = f": {error.body}" if isinstance(error.body, str) else ""
    return Fault(getattr(error, "status_code", None), error.message + plain, retry_after, type(error).__name__)


class FailedResponse(Exception):
    """The client gives these as responses."""


def client_of(target):
    return openai.OpenAI(base_url=f"{target.url}/v1", api_key="k", max_retries=0, default_headers=target.headers)


class Chat(Connection):
    def __init__(self, target):
        super().__init__(target)
        self.client = client_of(target)

    fault_of = staticmethod(fault_of)

    def params(self, question: Question) -> dict:
        params = {"model": self.model, "messages": self.messages(question)}
        if question.offers_tools:
            params["tools"] = [{"type": "function", "function": self.target.texts["tool"]}]
        if question.thinks:
            params["reasoning_effort"] = "low"
        if question.limit:
            params["max_completion_tokens"] = question.limit
        return params

    def messages(self, question: Question) -> list:
        messages = list(question.history or [{"role": "developer", "content": "Be brief."}])
        messages += [{"role": "tool", "tool_call_id": id, "content": text} for id, _, text in question.results]
        if question.prompt is not None:
            content = [{"type": "text", "text": question.prompt}]
            if question.image is not None:
                content.append({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{question.image}"}})
            messages.append({"role": "user", "content": content})
        return messages

    def answer(self, completion, messages) -> Answer:
        choice = completion.choices[0]
        message, usage = choice.message, completion.usage
        calls = [(call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]
        reason = "refusal" if message.refusal else REASONS.get(choice.finish_reason, choice.finish_reason)
        details = usage.prompt_tokens_details
        counts = (usage.prompt_tokens, details and details.cached_tokens, usage.completion_tokens)
        sent = message.model_dump(exclude_none=True)
        # The helper for streams adds this.
        sent.pop("parsed", None)
        return Answer(message.content or "", calls, reason, counts, [*messages, sent])

    def ask(self, question):
        params = self.params(question)
        return self.answer(self.client.chat.completions.create(**params), params["messages"])

    def stream(self, question, on_text):
        params = self.params(question)
        with self.client.chat.completions.stream(**params, stream_options={"include_usage": True}) as stream:
            for event in stream:
                if event.type == "content.delta":
                    on_text()
            return self.final(stream, params["messages"])

    def final(self, stream, messages) -> Answer:
        try:
            return self.answer(stream.get_final_completion(), messages)
        except openai.LengthFinishReasonError as error:
            return self.answer(error.completion, messages)
        except openai.ContentFilterFinishReasonError:
            return Answer("", [], "refusal", (None, None, None), None)

    def parse(self, question, schema):
        import pydantic

        weather = pydantic.create_model("Weather", city=(str, ...), degrees=(int, ...))
        completion = self.client.chat.completions.parse(**self.params(question), response_format=weather)
        return completion.choices[0].message.parsed.model_dump()


class Responses(Connection):
    def __init__(self, target):
        super().__init__(target)
        self.client = client_of(target)

    fault_of = staticmethod(fault_of)

    def params(self, question: Question) -> dict:
        params = {"model": self.model, "instructions": "Be brief.", "input": self.input(question), "store": False}
        if question.offers_tools:
            params["tools"] = [{"type": "function", "strict": True, **self.target.texts["tool"]}]
        if question.thinks:
            params["reasoning"] = {"effort": "low", "summary": "auto"}
            params["include"] = ["reasoning.encrypted_content"]
        if question.limit:
            params["max_output_tokens"] = question.limit
        return params

    def input(self, question: Question) -> list:
        items = list(question.history or [])
        items += [{"type": "function_call_output", "call_id": id, "output": text} for id, _, text in question.results]
        if question.prompt is not None:
            content = [{"type": "input_text", "text": question.prompt}]
            if question.image is not None:
                url = f"data:image/png;base64,{question.image}"
                content.append({"type": "input_image", "detail": "auto", "image_url": url})
            items.append({"role": "user", "content": content})
        return items

    def answer(self, response, items) -> Answer:
        if response.status == "failed":
            raise FailedResponse(response.error.message)
        calls = [(item.call_id, item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"]
        parts = [part for item in response.output if item.type == "message" for part in item.content]
        why = response.incomplete_details and response.incomplete_details.reason
        if why == "content_filter" or any(part.type == "refusal" for part in parts):
            reason = "refusal"
        elif why == "max_output_tokens":
            reason = "length"
        else:
            reason = "calls" if calls else "stop"
        usage = response.usage
        counts = (usage.input_tokens, usage.input_tokens_details.cached_tokens, usage.output_tokens)
        output = [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output]
        return Answer(response.output_text, calls, reason, counts, [*items, *output])

    def ask(self, question):
        params = self.params(question)
        return self.answer(self.client.responses.create(**params), params["input"])

    def stream(self, question, on_text):
        params = self.params(question)
        failed = None
        with self.client.responses.stream(**params) as stream:
            for event in stream:
                if event.type == "response.output_text.delta":
                    on_text()
                # The helper knows no final response then.
                if event.type == "response.failed":
                    failed = event.response
                if event.type == "response.incomplete":
                    return self.answer(event.response, params["input"])
                if event.type == "error":
                    raise FailedResponse(event.message)
            return self.answer(failed or stream.get_final_response(), params["input"])

    def parse(self, question, schema):
        import pydantic

        weather = pydantic.create_model("Weather", city=(str, ...), degrees=(int, ...))
        return self.client.responses.parse(**self.params(question), text_format=weather).output_parsed.model_dump()

    def checks(self):
        if not self.target.upstream["servesResponses"]:
            return {}

        def retrieve():
            text = self.client.responses.retrieve("resp_1").output_text
            assert text == "Stored.", text

        return {"retrieve": retrieve}


class Others(Connection):
    """Embeddings and models."""

    def checks(self):
        client = client_of(self.target)

        def embeddings():
            found = client.embeddings.create(model=self.target.upstream["embeds"], input="a")
            assert found.data[0].embedding == self.target.texts["vector"], found
            assert found.usage.prompt_tokens == 3, found.usage

        def models():
            ids = [model.id for model in client.models.list()]
            assert self.target.texts["alias"] in ids, ids

        return {"models": models, **({"embeddings": embeddings} if self.target.upstream.get("embeds") else {})}
