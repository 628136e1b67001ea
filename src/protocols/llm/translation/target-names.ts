/** What all providers accept as the name of a tool. */
const ACCEPTED = /^[A-Za-z0-9_-]{1,64}$/
const REFUSED_CHARACTERS = /[^A-Za-z0-9_-]/g
const MAX_NAME = 64
/** Chat completions refuse longer ids. */
const MAX_ID = 40

/**
 * The names of tools and the ids of calls of one request as its target accepts them. An accepted name stays; another one is altered, and told
 * apart by a number where two would become equal. `given` gives the client back what it sent.
 */
export class TargetNames {
  readonly #names = new Map<string, string>()
  readonly #given = new Map<string, string>()
  readonly #ids = new Map<string, string>()
  readonly #usedIds = new Set<string>()
  /** The last number that tells names apart, by the name that it follows: a client may choose thousands that become equal. */
  readonly #nameNumbers = new Map<string, number>()
  readonly #idNumbers = new Map<string, number>()

  /** The tools of the request come first, so that accepted names of tools are never taken by altered ones. */
  constructor(tools: readonly string[]) {
    for (const name of tools) if (ACCEPTED.test(name)) this.#assign(name, name)
  }

  name(given: string): string {
    const known = this.#names.get(given)
    if (known !== undefined) return known
    return this.#assign(
      given,
      fitted(given === '' ? 'tool' : given, MAX_NAME, this.#nameNumbers, (name) => !this.#given.has(name)),
    )
  }

  #assign(given: string, name: string): string {
    this.#names.set(given, name)
    this.#given.set(name, given)
    return name
  }

  /** The client's name of a tool that the model calls; the model's own if the client has none like it. */
  given(name: string): string {
    return this.#given.get(name) ?? name
  }

  /** The id of a call in the history of the request; calls and their results use the same one. */
  id(given: string): string {
    let id = this.#ids.get(given)
    if (id === undefined) {
      id = fitted(given === '' ? 'call' : given, MAX_ID, this.#idNumbers, (each) => !this.#usedIds.has(each))
      this.#ids.set(given, id)
      this.#usedIds.add(id)
    }
    return id
  }
}

/** @param numbers the last number of each name that was altered */
function fitted(
  text: string,
  maxLength: number,
  numbers: Map<string, number>,
  isFree: (name: string) => boolean,
): string {
  const name = text.replace(REFUSED_CHARACTERS, '_').slice(0, maxLength)
  if (isFree(name)) return name
  for (let number = (numbers.get(name) ?? 1) + 1; ; number++) {
    const ending = `_${number}`
    const next = name.slice(0, maxLength - ending.length) + ending
    if (!isFree(next)) continue
    numbers.set(name, number)
    return next
  }
}
