/** A stream of notifications of a client, which lasts longer than the plan that it began with. */
export interface OpenStream {
  /** Names of the targets of the backend. */
  readonly targets: readonly string[]
  /** The backend has other targets now. */
  changed(): void
}

/** The open streams of a worker, by the key of their backend. */
export class OpenStreams {
  readonly #streams = new Map<string, Set<OpenStream>>()

  add(backend: string, stream: OpenStream): void {
    const streams = this.#streams.get(backend) ?? new Set()
    this.#streams.set(backend, streams.add(stream))
  }

  delete(backend: string, stream: OpenStream): void {
    const streams = this.#streams.get(backend)
    streams?.delete(stream)
    if (streams?.size === 0) this.#streams.delete(backend)
  }

  /** Tells the streams of a backend whose targets are others now. */
  replaced(backend: string, targets: readonly string[]): void {
    for (const stream of [...(this.#streams.get(backend) ?? [])]) {
      const isSame = stream.targets.length === targets.length && stream.targets.every((name) => targets.includes(name))
      if (!isSame) stream.changed()
    }
  }
}
