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
  // Most requests have neither.
  #names: FittedNames | undefined
  #ids: FittedNames | undefined
  #calls: Map<string, SameCalls> | undefined

  readonly #takesAnyId: boolean

  /**
   * The tools of the request come first, so that accepted names of tools are never taken by altered ones.
   * @param takesAnyId ids of calls may have all characters; some providers want exactly theirs back
   */
  constructor(tools: readonly string[], takesAnyId = false) {
    this.#takesAnyId = takesAnyId
    for (const name of tools) if (ACCEPTED.test(name)) this.#tools.keep(name)
  }

  get #tools(): FittedNames {
    this.#names ??= new FittedNames('tool', MAX_NAME, false)
    return this.#names
  }

  name(given: string): string {
    return this.#tools.fitted(given)
  }

  /** The client's name of a tool that the model calls; the model's own if the client has none like it. */
  given(name: string): string {
    return this.#names?.given(name) ?? name
  }

  /** The id of a call in the history of the request. Some providers use the same ids in every answer, and others refuse them then. */
  callId(given: string): string {
    this.#calls ??= new Map()
    const calls = this.#calls.get(given)
    if (calls === undefined) {
      const id = this.#callIds.fitted(given)
      this.#calls.set(given, { ids: [id], answered: 0 })
      return id
    }
    const id = this.#callIds.another(given)
    calls.ids.push(id)
    return id
  }

  /** The id of the call whose result is next; of calls with the same id, results come in the order of the calls. */
  resultId(given: string): string {
    const calls = this.#calls?.get(given)
    if (calls === undefined) return this.#callIds.fitted(given)
    return calls.ids[calls.answered++] ?? calls.ids.at(-1)!
  }

  get #callIds(): FittedNames {
    this.#ids ??= new FittedNames('call', MAX_ID, this.#takesAnyId)
    return this.#ids
  }
}

/** Calls to which the client gives the same id. */
interface SameCalls {
  /** For the target. */
  readonly ids: string[]
  /** How many results came. */
  answered: number
}

/** Names of one kind. */
class FittedNames {
  readonly #forEmpty: string
  readonly #maxLength: number
  readonly #takesAny: boolean
  readonly #fitted = new Map<string, string>()
  readonly #given = new Map<string, string>()
  /** The last number that tells names apart, by the name that it follows: a client may choose thousands that become equal. */
  readonly #numbers = new Map<string, number>()

  /** @param forEmpty replaces an empty name */
  constructor(forEmpty: string, maxLength: number, takesAny: boolean) {
    this.#takesAny = takesAny
    this.#forEmpty = forEmpty
    this.#maxLength = maxLength
  }

  /** Keeps a name as it is. */
  keep(name: string): void {
    this.#assign(name, name)
  }

  fitted(given: string): string {
    return this.#fitted.get(given) ?? this.another(given)
  }

  /** One that nothing else has. */
  another(given: string): string {
    return this.#assign(given, this.#free(given === '' ? this.#forEmpty : given))
  }

  given(fitted: string): string | undefined {
    return this.#given.get(fitted)
  }

  #assign(given: string, fitted: string): string {
    this.#fitted.set(given, fitted)
    this.#given.set(fitted, given)
    return fitted
  }

  #free(text: string): string {
    const accepted = this.#takesAny ? text : text.replace(REFUSED_CHARACTERS, '_')
    const name = cut(accepted, this.#maxLength)
    if (!this.#given.has(name)) return name
    for (let number = (this.#numbers.get(name) ?? 1) + 1; ; number++) {
      const ending = `_${number}`
      const next = cut(name, this.#maxLength - ending.length) + ending
      if (this.#given.has(next)) continue
      this.#numbers.set(name, number)
      return next
    }
  }
}

/** Half a surrogate pair, which is refused as JSON, becomes U+FFFD. */
function cut(text: string, length: number): string {
  return text.slice(0, length).toWellFormed()
}
