import { ForwardingHandler } from '#net/testing/forwarding-handler.ts'

/** A relay that counts started and ended requests. */
export class CountingRelay extends ForwardingHandler {
  begun = 0
  ended = 0

  override request(stream: Parameters<ForwardingHandler['request']>[0]): void {
    if (stream.context !== undefined) throw new Error('the slot of the request before was not cleared')
    this.begun++
    super.request(stream)
  }

  override finished(...all: Parameters<ForwardingHandler['finished']>): void {
    this.ended++
    super.finished(...all)
    this.events.length = 0
  }

  override aborted(...all: Parameters<ForwardingHandler['aborted']>): void {
    this.ended++
    super.aborted(...all)
    this.events.length = 0
  }
}
