/** A stream of notifications of a client, which lasts longer than the plan that it began with. */
export interface OpenStream {
  /** Names of the targets of the backend. */
  readonly targets: readonly string[]
  /** The backend has other targets now. */
  readonly changed: () => void
}

/** The open streams of a worker, by the key of their backend. */
export class OpenStreams {
  readonly #streams = new Map<string, Set<OpenStream>>()

  /** @returns call it when the stream is over */
  add(backend: string, stream: OpenStream): () => void {
    let streams = this.#streams.get(backend)
    if (streams === undefined) {
      streams = new Set()
      this.#streams.set(backend, streams)
    }
    streams.add(stream)
    return () => {
      streams.delete(stream)
      if (streams.size === 0 && this.#streams.get(backend) === streams) this.#streams.delete(backend)
    }
  }

  /** Tells the streams of a backend whose targets are others now. */
  replaced(backend: string, targets: readonly string[]): void {
    for (const stream of [...(this.#streams.get(backend) ?? [])]) {
      const isSame = stream.targets.length === targets.length && stream.targets.every((name) => targets.includes(name))
      if (!isSame) stream.changed()
    }
  }
}
