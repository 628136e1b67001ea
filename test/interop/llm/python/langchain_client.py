from connection import Answer, Connection, Fault, Question
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI
from openai import APIError

ERRORS = {
    400: "OpenAIInvalidRequestError",
    401: "OpenAIAuthenticationError",
    429: "OpenAIRateLimitError",
    500: "OpenAIAPIError",
    529: "OpenAIAPIError",
}
REASONS = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "calls",
    "content_filter": "refusal",
    "completed": "stop",
    "max_output_tokens": "length",
}


class Chat(Connection):
    responses = False

    def chat(self, question: Question):
        more = {}
        if question.limit:
            more["max_tokens"] = question.limit
        if self.responses:
            more |= {"store": False, "output_version": "responses/v1"}
            if question.thinks:
                more |= {"reasoning": {"effort": "low", "summary": "auto"}, "include": ["reasoning.encrypted_content"]}
        elif question.thinks:
            more["reasoning_effort"] = "low"
        chat = ChatOpenAI(
            model=self.model,
            api_key="k",
            max_retries=0,
            base_url=f"{self.target.url}/v1",
            default_headers=self.target.headers,
            use_responses_api=self.responses,
            stream_usage=True,
            **more,
        )
        return chat.bind_tools([{"type": "function", "function": self.target.texts["tool"]}]) if question.offers_tools else chat

    def messages(self, question: Question) -> list:
        messages = list(question.history or [SystemMessage("Be brief.")])
        messages += [ToolMessage(text, tool_call_id=id) for id, _, text in question.results]
        if question.prompt is not None:
            content = [{"type": "text", "text": question.prompt}]
            if question.image is not None:
                content.append({"type": "image", "base64": question.image, "mime_type": "image/png"})
            messages.append(HumanMessage(content))
        return messages

    def fault_of(self, error):
        cause = error if isinstance(error, APIError) else error.__cause__
        if not isinstance(cause, APIError):
            return Fault(None, str(error), None, type(error).__name__) if isinstance(error, ValueError) else None
        response = getattr(cause, "response", None)
        retry_after = response.headers.get("retry-after") if response is not None else None
        plain = f": {cause.body}" if isinstance(cause.body, str) else ""
        return Fault(getattr(cause, "status_code", None), cause.message + plain, retry_after, type(cause).__name__)

    def answer(self, message, messages) -> Answer:
        about = message.response_metadata
        incomplete = about.get("incomplete_details") or {}
        why = about.get("finish_reason") or incomplete.get("reason") or about.get("status")
        calls = [(call["id"], call["name"], call["args"]) for call in message.tool_calls]
        parts = message.content if isinstance(message.content, list) else []
        refused = message.additional_kwargs.get("refusal") or any(part.get("type") == "refusal" for part in parts)
        reason = "refusal" if refused else REASONS.get(why, why)
        usage = message.usage_metadata or {}
        cached = usage.get("input_token_details", {}).get("cache_read")
        counts = (usage.get("input_tokens"), cached, usage.get("output_tokens"))
        reason = "calls" if reason == "stop" and calls else reason
        return Answer(message.text, calls, reason, counts, [*messages, message])

    def ask(self, question):
        messages = self.messages(question)
        return self.answer(self.chat(question).invoke(messages), messages)

    def stream(self, question, on_text):
        messages = self.messages(question)
        whole = None
        for chunk in self.chat(question).stream(messages):
            if chunk.text:
                on_text()
            whole = chunk if whole is None else whole + chunk
        return self.answer(whole, messages)

    def parse(self, question, schema):
        named = {"title": "weather", **schema}
        chat = self.chat(question).with_structured_output(named, method="json_schema", strict=True)
        return chat.invoke(self.messages(question))


class Responses(Chat):
    responses = True
