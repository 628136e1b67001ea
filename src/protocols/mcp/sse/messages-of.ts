import type { ServedAnswer } from '../../backend-protocol.ts'
import { SseParser } from '../../http/sse.ts'

/** A message in an answer of Streamable HTTP. */
export interface AnswerMessage {
  /** '': an event without a message. */
  readonly text: string
  readonly eventId?: string | undefined
  readonly retryMs?: number | undefined
}

/** The messages of an answer: the events of a stream, or its JSON. */
export async function* messagesOf({ headers, body }: ServedAnswer): AsyncGenerator<AnswerMessage> {
  const type = headers.find(([name]) => name === 'content-type')?.[1]
  if (type !== 'text/event-stream') {
    const decoder = new TextDecoder()
    let text = ''
    for await (const piece of piecesOf(body)) text += decoder.decode(piece, { stream: true })
    if (type === 'application/json') yield { text: text + decoder.decode() }
    return
  }
  const parser = new SseParser()
  for await (const piece of piecesOf(body)) {
    for (const { data, id, retryMs } of parser.push(piece)) yield { text: data, eventId: id, retryMs }
  }
}

async function* piecesOf(body: ServedAnswer['body']): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  else if (body !== undefined) yield* body
}
