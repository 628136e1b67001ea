import { type Reply, type Seen, USAGE } from '../replies.ts'
import type { Body } from './body.ts'
import { Events, type Vendor } from './vendor.ts'

const REASONS = { stop: 'STOP', length: 'MAX_TOKENS', calls: 'STOP', refusal: 'SAFETY' } as const
const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
}

/** The native API of Gemini, which passes through. */
export const generateContent: Vendor = {
  streamType: 'text/event-stream',
  read,
  answer: (reply, model) => answerOf(partsOf(reply), model, reply),
  stream(reply, model) {
    const events = new Events()
    const event = (parts: readonly object[], isLast = false) =>
      `data: ${JSON.stringify(answerOf(parts, model, isLast ? reply : undefined))}\r\n\r\n`
    const parts = partsOf({ ...reply, texts: [] })
    for (const text of reply.texts ?? []) events.addText(event([{ text }]))
    events.add(event(parts.length > 0 ? parts : [{ text: '' }], true))
    return events
  },
  error: (status, message) => ({ error: { code: status, message, status: STATUSES[status] ?? 'UNAVAILABLE' } }),
  streamError: (message) =>
    Buffer.from(`data: ${JSON.stringify({ error: { code: 503, message, status: 'UNAVAILABLE' } })}\r\n\r\n`),
}

function answerOf(parts: readonly object[], modelVersion: string, reply: Reply | undefined): object {
  const content = { role: 'model', parts }
  return {
    candidates: [{ content, index: 0, ...(reply && { finishReason: REASONS[reply.end] }) }],
    usageMetadata: {
      promptTokenCount: USAGE.input,
      cachedContentTokenCount: USAGE.cached,
      candidatesTokenCount: USAGE.output - 2,
      thoughtsTokenCount: 2,
      totalTokenCount: USAGE.input + USAGE.output,
    },
    modelVersion,
    responseId: 'r1',
  }
}

function partsOf({ thought, texts = [], calls = [] }: Reply): readonly object[] {
  const text = texts.join('')
  return [
    ...(thought ? [{ text: thought.text, thought: true }] : []),
    ...(text === '' ? [] : [{ text }]),
    ...calls.map(({ id, name, input }, at) => ({
      functionCall: { id, name, args: input },
      ...(thought && at === 0 && { thoughtSignature: thought.signature }),
    })),
  ]
}

function read(body: Body, path: string): Seen {
  const parts = body.get('contents').list.flatMap((content) => content.get('parts').list)
  const settings = body.get('generationConfig')
  const called = parts.flatMap((part) =>
    part.get('functionCall').isThere ? [part.get('functionCall', 'id').text] : [],
  )
  const answered = parts.filter((part) => part.get('functionResponse').isThere)
  return {
    streamed: path.includes(':streamGenerateContent'),
    limit: settings.get('maxOutputTokens').number,
    tools: body
      .get('tools')
      .list.flatMap((tool) => tool.get('functionDeclarations').list.map((one) => one.get('name').text ?? '?')),
    // Clients may leave out the id: results are in the order of the calls.
    results: answered.map((part, at) => {
      const { value } = part.get('functionResponse', 'response')
      const said = Object.values(value ?? {}).find((each) => typeof each === 'string' && each.includes('degrees'))
      return {
        id: part.get('functionResponse', 'id').text ?? called[at] ?? ['call_Oslo1', 'call_Rome2'][at]!,
        text: String(said),
      }
    }),
    schema: settings.get('responseJsonSchema').value ?? settings.get('responseSchema').value,
    images: parts.map((part) => part.get('inlineData', 'data').text ?? ''),
    signatures: parts.map((part) => part.get('thoughtSignature').text ?? ''),
    faults: parts.length === 0 ? ['no contents'] : [],
  }
}
