import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import { encode } from '../json/splice.ts'
import { SseEvents } from '../sse/sse-events.ts'
import type { Collected, FormChange } from './form-change.ts'

/** The events of a whole answer. */
export function streamOf(forms: FormChange, answer: string, includesUsage = false): string {
  const parsed = parseDocument(encode(answer))
  if (!(parsed instanceof JsonValue)) throw new Error(`not JSON at ${parsed.at}`)
  const fault = forms.faultOf(parsed)
  if (fault !== undefined) throw new Error(fault)
  const pieces = [...forms.writeStream(parsed, includesUsage)]
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece as Uint8Array))).toString()
}

/** The whole answer of a stream. */
export function collected(forms: FormChange, stream: string): string {
  const result = collect(forms, stream, Number.POSITIVE_INFINITY)
  if (result?.kind !== 'whole') throw new Error(`not whole: ${JSON.stringify(result)}`)
  return Buffer.from(result.body).toString()
}

/** Why a stream is no answer; undefined: it is incomplete. */
export function failedBy(forms: FormChange, stream: string, room: number): Collected | undefined {
  const result = collect(forms, stream, room)
  if (result?.kind === 'whole') throw new Error(`whole: ${Buffer.from(result.body).toString()}`)
  return result
}

/** What a stream is. @param room for so many units of text */
export function collect(forms: FormChange, stream: string, room: number): Collected | undefined {
  let left = room
  const collector = forms.collector((length) => {
    left -= length
    return left >= 0
  })
  let found: Collected | undefined
  const claim = new BodyClaim(new BodyMemory(2 ** 30))
  const events = new SseEvents(
    {
      event: (name, data) => {
        found ??= collector.event(name, data)
      },
      overlong: () => {},
    },
    { claim, maxBlockBytes: 2 ** 24 },
  )
  events.push(Buffer.from(stream))
  events.end()
  return found ?? collector.end()
}
