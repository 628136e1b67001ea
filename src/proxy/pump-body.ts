import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodySink, BodySource } from '#net/stream.ts'
import { BODY_CHUNKED, type BodyKind } from '#net/stream.ts'

/** Holds a giver back until the sink has drained. */
class Gate implements BodySource {
  readonly kind: BodyKind = BODY_CHUNKED
  readonly length = -1
  #open: (() => void) | undefined

  pipe(sink: BodySink): void {
    sink.source = this
  }

  pause(): void {}

  resume(): void {
    this.#open?.()
    this.#open = undefined
  }

  untilOpen(): Promise<void> {
    return new Promise((resolve) => {
      this.#open = resolve
    })
  }
}

/** Sends pieces as they come and ends the body. Stops, and lets the giver end, when `isWanted` turns false. */
export async function pumpBody(
  pieces: AsyncIterable<Uint8Array>,
  sink: BodySink,
  isWanted: () => boolean,
): Promise<void> {
  const gate = new Gate()
  gate.pipe(sink)
  for await (const piece of pieces) {
    if (!isWanted()) return
    sink.bytes(asBuffer(piece), 0, piece.length)
    if (sink.backed) await gate.untilOpen()
  }
  if (isWanted()) sink.end()
}
