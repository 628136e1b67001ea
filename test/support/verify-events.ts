import { createHash, createHmac } from 'node:crypto'
import { EventStreamCodec } from '@smithy/core/event-streams'

/** What the events of a stream must be signed with. */
export interface EventKeys {
  readonly secretAccessKey: string
  readonly service: string
  readonly region: string
}

const CODEC = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString(),
  (text) => Buffer.from(text),
)

/**
 * Verifies the events of a body as services do, after the published algorithm (Amazon Transcribe, "Event stream encoding"): each frame has a date,
 * the signature that follows from the one before, and an event as its payload; the last event is empty.
 * @param seed the signature of the request
 */
export function verifyEvents(
  body: Buffer,
  seed: string,
  keys: EventKeys,
): { readonly body: Buffer; readonly fault: string | undefined } {
  const events: Buffer[] = []
  const faulty = (fault: string) => ({ body: Buffer.concat(events), fault: `event ${events.length}: ${fault}` })
  let before = seed
  let isComplete = false
  for (let at = 0; at < body.length; ) {
    if (isComplete) return faulty('after the end')
    const length = body.readUInt32BE(at)
    const { headers, body: event } = CODEC.decode(body.subarray(at, at + length))
    if (Object.keys(headers).join() !== ':date,:chunk-signature') return faulty(`headers ${Object.keys(headers)}`)
    const date = headers[':date']!.value as Date
    if (!(Math.abs(Date.now() - date.getTime()) < 300_000)) return faulty(`wrong time ${date}`)
    // After the prelude: length and name, type, value of the date.
    const dateHeader = body.subarray(at + 12, at + 12 + 1 + ':date'.length + 1 + 8)
    const expected = signatureOf(date, dateHeader, Buffer.from(event), before, keys)
    const signature = Buffer.from(headers[':chunk-signature']!.value as Uint8Array).toString('hex')
    if (signature !== expected) return faulty('wrong signature')
    before = expected
    isComplete = event.length === 0
    events.push(Buffer.from(event))
    at += length
  }
  return isComplete ? { body: Buffer.concat(events), fault: undefined } : faulty('no signed end')
}

function signatureOf(
  date: Date,
  dateHeader: Buffer,
  event: Buffer,
  before: string,
  { secretAccessKey, region, service }: EventKeys,
): string {
  const time = date.toISOString().replace(/[-:]|\.\d+/g, '')
  const day = time.slice(0, 8)
  const scope = [day, region, service, 'aws4_request']
  const key = scope.reduce<string | Buffer>((parent, text) => hmac(parent, text), `AWS4${secretAccessKey}`)
  const lines = ['AWS4-HMAC-SHA256-PAYLOAD', time, scope.join('/'), before, sha256(dateHeader), sha256(event)]
  return hmac(key, lines.join('\n')).toString('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
