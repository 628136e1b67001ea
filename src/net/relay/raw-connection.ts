import type { Connector } from '../connect/connector.ts'
import { contextOf, type Dialling } from '../connect/dial.ts'
import { type DialTransportOptions, dialTransport } from '../connect/dial-transport.ts'
import type { Destination } from '../destination.ts'
import type { ConnectFailure } from '../failure.ts'
import { Head } from '../http/head.ts'
import type { Abort, BodySink, BodySource, ClientStream, ConnectHandler } from '../stream.ts'
import { RawDuplex } from './raw-duplex.ts'

/** Relayed connections are not queued: in many protocols the server sends first, so a queued client would wait without progress. */
const TOO_MANY: ConnectFailure = {
  code: 'too-many-connections',
  detail: 'the limit of connections to the address is reached',
}

/** An upstream connection without requests. */
export class RawConnection extends RawDuplex implements ClientStream {
  readonly head: Head = new Head()
  readonly trailers: Head | undefined = undefined
  readonly awaitsRoom = false
  context: unknown
  readonly #handler: ConnectHandler
  #dial: Dialling | undefined
  #cancelled = false

  constructor(handler: ConnectHandler, context: unknown) {
    super()
    this.#handler = handler
    this.context = context
  }

  get body(): BodySource {
    return this.received
  }

  get request(): BodySink {
    return this.sent
  }

  /** Begins to connect; must be called first. */
  dial(destination: Destination, connector: Connector): void {
    if (!connector.reserve(destination)) {
      process.nextTick(() => this.#fail(TOO_MANY))
      return
    }
    const done: DialTransportOptions['done'] = (transport, failure, use) => {
      this.#dial = undefined
      // The connection stays at its address, so changes of the name do not matter.
      use?.release()
      if (transport === null) return this.#fail(failure!)
      this.begin(transport)
      this.#handler.connected(this)
    }
    this.#dial = dialTransport(destination, contextOf(destination), { connector, owner: this, halfOpen: true, done })
  }

  cancel(): void {
    this.#cancelled = true
    this.cut('cancelled')
  }

  release(): boolean {
    return false
  }

  protected finished(): void {}

  protected broken(why: Abort): void {
    this.#dial?.cancel()
    if (this.received.done && !this.#cancelled) this.#handler.broken(this, why)
  }

  protected gone(): void {}

  #fail(failure: ConnectFailure): void {
    if (this.over) return
    this.over = true
    this.#handler.failed(this, failure)
  }
}
