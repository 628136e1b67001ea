/** Names of the query parameter with the model; clients of any provider may use either. */
const NAMES: ReadonlySet<string> = new Set(['model', 'deployment'])

/** The query of a request that opens a session. */
export class SessionQuery {
  readonly #parameters: string[]
  /** Index of the parameter with the model; -1: there is none. */
  readonly #at: number
  /** The model of the client; undefined: there is none. */
  readonly model: string | undefined

  private constructor(parameters: string[], at: number, model: string | undefined) {
    this.#parameters = parameters
    this.#at = at
    this.model = model
  }

  /**
   * Servers may differ in which of several parameters they read, and in whether the case of names matters, so there must be at most one.
   * @returns why the query is refused
   */
  static read(target: string): SessionQuery | string {
    const question = target.indexOf('?')
    const parameters = question < 0 || question === target.length - 1 ? [] : target.slice(question + 1).split('&')
    let at = -1
    let model: string | undefined
    for (const [index, parameter] of parameters.entries()) {
      const [name, value] = decodeParameter(parameter)
      if (name === undefined || !NAMES.has(name.toLowerCase())) continue
      if (at >= 0) return 'more than one model'
      if (value === undefined || value === '') return 'the model cannot be read'
      at = index
      model = value
    }
    return new SessionQuery(parameters, at, model)
  }

  /** Whether the session is for something else than talking to a model: it transcribes, or attaches to a call. */
  get namesNoModel(): boolean {
    return this.#parameters.some((parameter) => parameter.startsWith('intent=') || parameter.startsWith('call_id='))
  }

  /** The query with this model; other parameters are unchanged. @returns a target without a path */
  with(name: 'model' | 'deployment', model: string): string {
    const at = this.#at < 0 ? this.#parameters.length : this.#at
    const isSame = this.#parameters[at]?.startsWith(`${name}=`) === true && model === this.model
    const parameter = isSame ? this.#parameters[at]! : `${name}=${encodeURIComponent(model.toWellFormed())}`
    return `?${this.#parameters.toSpliced(at, 1, parameter).join('&')}`
  }
}

/** Both undefined where they cannot be decoded. */
function decodeParameter(parameter: string): [name: string | undefined, value: string | undefined] {
  const equals = parameter.indexOf('=')
  const [name, value] = equals < 0 ? [parameter, ''] : [parameter.slice(0, equals), parameter.slice(equals + 1)]
  return [decode(name), decode(value)]
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
