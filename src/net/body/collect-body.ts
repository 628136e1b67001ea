import type { Head } from '../http/head.ts'
import type { Abort, BodyKind, BodySink, BodySource } from '../stream.ts'
import type { BodyClaim, ComingBody } from './body-memory.ts'
import { ForwardingSink } from './forwarding-sink.ts'
import { HeldBytes } from './held-bytes.ts'

/** Why a body was not gathered: it is larger than it may be, or bodies of others take all the memory there is for them. */
export type NotCollected = 'too-large' | 'no-memory'

/** Result of collecting a body: its bytes and trailers, or the reason why it was not collected. */
export type Collected = WholeBody | NotCollected | Abort

export interface WholeBody {
  readonly bytes: Buffer
  readonly trailers: Head | undefined
}

/** How much of a body may be gathered. */
export interface CollectLimits {
  readonly maxBytes: number
  /** Where its memory comes from. */
  readonly claim: BodyClaim
  /** The sender is untrusted: a slow body is dropped when memory is needed for others. */
  readonly givesWay?: boolean
}

/**
 * Gathers a body. `done` is called once, possibly before this returns. A body that is not gathered is left where it is: nothing
 * more is read of it until somebody ends the exchange.
 */
export function collectBody(source: BodySource, limits: CollectLimits, done: (result: Collected) => void): void {
  if (source.length > limits.maxBytes) return done('too-large')
  const collector = new Collector(source, limits, done, () => collector.refuse('too-large'))
  source.pipe(collector)
}

/** As `collectBody`; of a larger body at least the first `maxBytes` are read, and it can go on from there. */
export function collectStart(
  source: BodySource,
  limits: CollectLimits,
  done: (result: Collected | PartialBody) => void,
): void {
  const collector = new Collector(source, limits, done, () =>
    done(new PartialBody(source, collector.held, limits.maxBytes)),
  )
  source.pipe(collector)
}

/** A body whose beginning was read. `pipe` delivers all of it, and when it is called again what has not been given yet, as with bodies of the wire. */
export class PartialBody implements BodySource {
  readonly kind: BodyKind
  readonly length: number
  readonly trails: boolean
  /** The first bytes, as many as were asked for. */
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
    // What was read already has lost its chunk framing, so the rest goes without it.
    this.#source.pipe(new ForwardingSink(sink))
  }

  pause(): void {
    this.#source.pause()
  }

  resume(): void {
    this.#source.resume()
  }

  /** More bytes may have arrived since: the bytes of one read are delivered completely. */
  #begin(sink: BodySink): void {
    const { bytes } = this.#start
    this.#begun = true
    sink.source = this.#source
    sink.bytes(bytes, 0, bytes.length)
  }
}

class Collector implements BodySink, ComingBody {
  backed = false
  source: BodySource | null = null
  readonly takesFramed = false
  readonly held: HeldBytes
  readonly #maxBytes: number
  readonly #claim: BodyClaim
  readonly #done: (result: Collected) => void
  readonly #tooLarge: () => void
  #refused = false

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
    if (givesWay) claim.expect(this)
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.#refused) return
    if (this.backed) return this.held.appendAnyway(buffer, start, end)
    if (!this.held.append(buffer, start, end) && !this.#appendInstead(buffer, start, end)) {
      return this.refuse('no-memory')
    }
    if (this.held.length <= this.#maxBytes) return
    this.backed = true
    this.#claim.complete()
    this.#tooLarge()
  }

  end(trailers?: Head): void {
    this.#claim.complete()
    if (!this.backed) this.#done({ bytes: this.held.bytes, trailers: trailers?.clone() })
  }

  abort(why: Abort): void {
    this.#claim.complete()
    if (!this.backed) this.#done(why)
  }

  giveWay(): void {
    this.refuse('no-memory')
  }

  /** Lets go of what was gathered, and takes nothing more. */
  refuse(why: NotCollected): void {
    if (this.#refused) return
    this.#claim.complete()
    this.backed = true
    this.#refused = true
    this.held.drop()
    this.#done(why)
  }

  /** In the place of bodies that take long; this one may be among them. */
  #appendInstead(buffer: Buffer, start: number, end: number): boolean {
    const more = this.held.missing(end - start)
    return this.#claim.makeRoom(more, this) && this.held.append(buffer, start, end)
  }
}
