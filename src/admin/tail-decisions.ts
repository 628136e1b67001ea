import { clock } from '#base/clock.ts'
import type { DecisionRecord } from '#observe/decision-ring.ts'
import type { Answer } from './answer.ts'
import { hideTexts, type StreamClient, type StreamedAnswer, textAnswer } from './answer.ts'
import { describeRecord } from './describe-record.ts'
import { readFilter } from './select-decisions.ts'

/** A reader of the decisions of all workers. */
export interface DecisionReader {
  records(records: readonly DecisionRecord[]): void
  lost(count: number): void
}

/** Gives a reader the decisions from now on. @returns call it when they are wanted no more */
export type FollowDecisions = (reader: DecisionReader) => () => void

/** Unsent bytes of one client above which it loses records. */
const MAX_UNSENT_BYTES = 1024 * 1024

/** So that both sides notice a connection that is gone. */
const HEARTBEAT_MS = 15_000

/**
 * Streams the decisions that a query selects as server-sent events: `decision` with a record as in `/decisions`, and `lost` with the number of
 * records that the client could not get, because it reads too slowly or there were too many.
 */
export function tailDecisions(
  follow: FollowDecisions,
  query: URLSearchParams,
  hide: (text: string) => string,
): Answer | StreamedAnswer {
  const filter = readFilter(query)
  if (filter.kind === 'refused') return textAnswer(400, filter.message)
  return {
    contentType: 'text/event-stream',
    stream: (client) => stream(client, follow, filter.accepts, hideTexts(hide)),
  }
}

function stream(
  client: StreamClient,
  follow: FollowDecisions,
  accepts: (record: DecisionRecord) => boolean,
  replacer: ReturnType<typeof hideTexts>,
): () => void {
  let lost = 0
  const tellLost = () => {
    if (lost === 0 || client.unsentBytes > MAX_UNSENT_BYTES) return
    client.write(`event: lost\ndata: {"records":${lost}}\n\n`)
    lost = 0
  }
  const stop = follow({
    records: (records) => {
      tellLost()
      for (const record of records) {
        if (!accepts(record)) continue
        if (lost > 0 || client.unsentBytes > MAX_UNSENT_BYTES) lost++
        else client.write(`event: decision\ndata: ${JSON.stringify(describeRecord(record), replacer)}\n\n`)
      }
    },
    lost: (count) => {
      lost += count
      tellLost()
    },
  })
  client.onTaken(tellLost)
  let heartbeat = clock.after(HEARTBEAT_MS, beat)
  function beat(): void {
    if (client.unsentBytes === 0) client.write(':\n\n')
    heartbeat = clock.after(HEARTBEAT_MS, beat)
  }
  client.write(':\n\n')
  return () => {
    heartbeat.cancel()
    stop()
  }
}
