import type { BodySource } from '../stream.ts'
import { ForwardingSink } from './forwarding-sink.ts'

/** A sink that can be backed although the sink behind it is not: that one does not resume the source, but tells that it has room. */
export abstract class HoldingSink extends ForwardingSink {
  #source: BodySource | null = null

  /** The sink behind has room again. */
  protected abstract drained(): void

  override get source(): BodySource | null {
    return this.#source
  }

  override set source(source: BodySource | null) {
    this.#source = source
    // After the end of the source, the sink behind still resumes what is held here.
    if (source === null) return
    this.sink.source = {
      kind: source.kind,
      length: source.length,
      pipe: (sink) => source.pipe(sink),
      pause: () => this.#source?.pause(),
      resume: () => this.drained(),
    }
  }
}
