import type { ApiObject } from '#api/object.ts'

interface Numbered {
  /** The object as it was read. */
  readonly read: ApiObject
  /** The same with its generation. */
  readonly object: ApiObject
}

/** Gives objects from files their generation: 1 at first, one more whenever anything but metadata and status changed (decision A-17). */
export class Generations {
  readonly #known = new Map<string, Numbered>()

  /** An object that was not read anew stays the same object. */
  number(key: string, read: ApiObject): ApiObject {
    const known = this.#known.get(key)
    if (known?.read === read) return known.object
    const last = known?.object.metadata.generation ?? 0
    const generation = known !== undefined && wish(known.read) === wish(read) ? last : last + 1
    const object = read.metadata.generation === generation ? read : withGeneration(read, generation)
    this.#known.set(key, { read, object })
    return object
  }
}

function withGeneration(read: ApiObject, generation: number): ApiObject {
  return { ...read, metadata: { ...read.metadata, generation }, origin: { ...read.origin, generation } }
}

/** The desired state: everything except metadata and status. */
function wish({ metadata: _metadata, status: _status, origin: _origin, ...rest }: ApiObject): string {
  return JSON.stringify(rest)
}
