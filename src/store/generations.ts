import type { ApiObject } from '#api/object.ts'

interface Numbered {
  /** The object as read. */
  readonly read: ApiObject
  /** The object with its generation. */
  readonly object: ApiObject
}

/** Assigns generations to objects from files: 1 at first, incremented when anything except metadata and status changes. */
export class Generations {
  readonly #known = new Map<string, Numbered>()

  /** Forgets a removed object: if it is created again, its generations start at 1. */
  forget(key: string): void {
    this.#known.delete(key)
  }

  /** An object that was not read again keeps its identity. */
  number(key: string, read: ApiObject): ApiObject {
    const known = this.#known.get(key)
    if (known?.read === read) return known.object
    const last = known?.object.metadata.generation ?? 0
    const generation = known !== undefined && desiredState(known.read) === desiredState(read) ? last : last + 1
    const object = read.metadata.generation === generation ? read : withGeneration(read, generation)
    this.#known.set(key, { read, object })
    return object
  }
}

function withGeneration(read: ApiObject, generation: number): ApiObject {
  return { ...read, metadata: { ...read.metadata, generation }, origin: { ...read.origin, generation } }
}

/** The desired state: everything except metadata and status. */
function desiredState({ metadata: _metadata, status: _status, origin: _origin, ...rest }: ApiObject): string {
  return JSON.stringify(rest)
}
