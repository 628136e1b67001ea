import { BODY_CLOSE, type BodySource } from '../stream.ts'

/** Takes all bytes, and remembers them and how they end. A test sets whether it has room. */
export function recordedSink() {
  const pieces: Buffer[] = []
  const ends: string[] = []
  return {
    pieces,
    ends,
    sink: {
      backed: false,
      source: null as BodySource | null,
      takesFramed: true,
      bytes: (buffer: Buffer, start: number, end: number) => {
        pieces.push(Buffer.from(buffer.subarray(start, end)))
      },
      end: () => ends.push('end'),
      abort: (why: string) => ends.push(why),
    },
  }
}

/** A source that counts how often it is resumed. */
export function countedSource() {
  const counted = {
    resumed: 0,
    source: {
      kind: BODY_CLOSE,
      length: -1,
      pipe: () => {},
      pause: () => {},
      resume: () => {
        counted.resumed++
      },
    } satisfies BodySource,
  }
  return counted
}
