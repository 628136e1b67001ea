import type { Head } from '../http/head.ts'
import type { Abort, BodyKind, BodySink, BodySource } from '../stream.ts'
import type { BodyClaim, IncomingBody } from './body-memory.ts'
import { ForwardingSink } from './forwarding-sink.ts'
import { HeldBytes } from './held-bytes.ts'

/** Why a body was not collected: it exceeds its limit, or no body memory is left. */
export type NotCollected = 'too-large' | 'no-memory'

/** Result of collecting a body: its bytes and trailers, or the reason why it was not collected. */
export type Collected = WholeBody | NotCollected | Abort

export interface WholeBody {
  readonly bytes: Buffer
  readonly trailers: Head | undefined
}

/** Limits of collecting a body. */
export interface CollectLimits {
  readonly maxBytes: number
  /** The claim that provides the memory. */
  readonly claim: BodyClaim
  /** The sender is untrusted: a slow body is dropped when other bodies need memory. */
  readonly givesWay?: boolean
}

/**
 * Collects a body. `done` is called once, possibly before this returns. If the body is not collected, its source stays paused until the
 * exchange ends.
 */
export function collectBody(source: BodySource, limits: CollectLimits, done: (result: Collected) => void): void {
  if (source.length > limits.maxBytes) return done('too-large')
  const collector = new Collector(source, limits, done, () => collector.refuse('too-large'))
  collector.read(source)
}

/**
 * Like `collectBody`, but of a larger body at least the first `maxBytes` are read, and reading can continue from there.
 * @param begins called before the body; gets a function that ends the collecting earlier, which may be called at any time
 */
export function collectStart(
  source: BodySource,
  limits: CollectLimits,
  done: (result: Collected | PartialBody) => void,
  begins?: (stop: () => void) => void,
): void {
  const collector = new Collector(source, limits, done, () =>
    done(new PartialBody(source, collector.held, limits.maxBytes)),
  )
  begins?.(() => collector.stop())
  collector.read(source)
}

/** A body whose beginning was read. `pipe` delivers all of it; a second `pipe` delivers the rest, like bodies from a connection. */
export class PartialBody implements BodySource {
  readonly kind: BodyKind
  readonly length: number
  readonly trails: boolean
  /** The first bytes, at most `maxBytes`. */
  readonly prefix: Buffer
  readonly #source: BodySource
  readonly #start: HeldBytes
  #begun = false

  constructor(source: BodySource, start: HeldBytes, maxBytes = start.length) {
    this.kind = source.kind
    this.length = source.length
    this.trails = source.trails === true
    this.prefix = start.bytes.subarray(0, maxBytes)
    this.#source = source
    this.#start = start
  }

  pipe(sink: BodySink): void {
    if (!this.#begun) this.#begin(sink)
    // The collected bytes have lost their chunk framing, so the rest is delivered without framing too.
    this.#source.pipe(new ForwardingSink(sink))
  }

  pause(): void {
    this.#source.pause()
  }

  resume(): void {
    this.#source.resume()
  }

  /** Delivers the collected bytes. There may be more than `maxBytes`, because one read is delivered completely. */
  #begin(sink: BodySink): void {
    const { bytes } = this.#start
    this.#begun = true
    sink.source = this.#source
    sink.bytes(bytes, 0, bytes.length)
  }
}

class Collector implements BodySink, IncomingBody {
  backed = false
  source: BodySource | null = null
  readonly takesFramed = false
  readonly held: HeldBytes
  readonly #maxBytes: number
  readonly #claim: BodyClaim
  readonly #done: (result: Collected) => void
  readonly #tooLarge: () => void
  readonly #givesWay: boolean
  #refused = false
  #isOver = false

  constructor(
    source: BodySource,
    { maxBytes, claim, givesWay = false }: CollectLimits,
    done: (result: Collected) => void,
    tooLarge: () => void,
  ) {
    this.held = new HeldBytes(claim, maxBytes, source.length)
    this.#maxBytes = maxBytes
    this.#claim = claim
    this.#done = done
    this.#tooLarge = tooLarge
    this.#givesWay = givesWay
  }

  /** Most bodies have arrived with their head, and need not wait. */
  read(source: BodySource): void {
    source.pipe(this)
    if (this.#givesWay && !this.#isOver && !this.backed) this.#claim.expect(this)
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#refused) return
    if (this.backed) return this.held.appendAnyway(buffer, start, end)
    if (!this.held.append(buffer, start, end) && !this.#appendInstead(buffer, start, end)) {
      return this.refuse('no-memory')
    }
    if (this.held.length > this.#maxBytes) this.stop()
  }

  /** Collects no more; what arrives until the source pauses is kept nevertheless. */
  stop(): void {
    if (this.backed || this.#isOver) return
    this.backed = true
    this.#claim.complete()
    this.#tooLarge()
  }

  end(trailers?: Head): void {
    this.#isOver = true
    this.#claim.complete()
    if (!this.backed) this.#done({ bytes: this.held.bytes, trailers: trailers?.clone() })
  }

  abort(why: Abort): void {
    this.#isOver = true
    this.#claim.complete()
    if (!this.backed) this.#done(why)
  }

  giveWay(): void {
    this.refuse('no-memory')
  }

  /** Drops the collected bytes and accepts no more. */
  refuse(why: NotCollected): void {
    if (this.#refused) return
    this.#claim.complete()
    this.backed = true
    this.#refused = true
    this.held.drop()
    this.#done(why)
  }

  /** Appends after slow bodies were dropped, possibly this one. */
  #appendInstead(buffer: Buffer, start: number, end: number): boolean {
    const more = this.held.missing(end - start)
    return this.#claim.makeRoom(more, this) && this.held.append(buffer, start, end)
  }
}
