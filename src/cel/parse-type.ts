import {
  ANY,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  objectType,
  STRING,
  TIMESTAMP,
  type Type,
  typeOf,
  UINT,
  wrapperOf,
} from './type.ts'

const SIMPLE: Readonly<Record<string, Type>> = {
  dyn: DYN,
  any: ANY,
  null: NULL,
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
  timestamp: TIMESTAMP,
  duration: DURATION,
}

/** Type names in signatures that are parameters: `A`, `B`, `T`. */
const PARAMETER = /^[A-Z]$/

export interface Signature {
  /** For member functions: the type of the receiver. */
  readonly receiver: Type | undefined
  readonly name: string
  readonly params: readonly Type[]
  /** The last parameter may occur any number of times. */
  readonly variadic: boolean
  readonly result: Type
}

/**
 * Parses a type: `string`, `list(int)`, `map(string, dyn)`, `optional_type(A)`, or the name of a host type.
 * @throws Error for invalid text: types are code
 */
export function parseType(text: string): Type {
  const reader = new Reader(text)
  const type = reader.type()
  reader.end()
  return type
}

/**
 * Parses a function signature: `size(string) -> int`, `(string).startsWith(string) -> bool`, `math.least(int...) -> int`.
 * @throws Error for invalid text
 */
export function parseSignature(text: string): Signature {
  const reader = new Reader(text)
  const receiver = reader.accept('(') ? reader.receiver() : undefined
  const name = reader.word()
  reader.expect('(')
  const params: Type[] = []
  let variadic = false
  while (!reader.accept(')')) {
    params.push(reader.type())
    variadic = reader.accept('...')
    if (!reader.accept(',')) {
      reader.expect(')')
      break
    }
  }
  reader.expect('->')
  const result = reader.type()
  reader.end()
  return { receiver, name, params, variadic, result }
}

class Reader {
  readonly #text: string
  readonly #tokens: string[]
  #at = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = text.match(/->|\.\.\.|[(),]|\.?[A-Za-z_@][\w@]*(?:\.[A-Za-z_@][\w@]*)*|\S/g) ?? []
  }

  accept(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false
    this.#at++
    return true
  }

  expect(token: string): void {
    if (!this.accept(token)) throw new Error(`expected ${token} in the CEL declaration ${this.#text}`)
  }

  word(): string {
    const word = this.#tokens[this.#at++] ?? ''
    if (!/^\.?[A-Za-z_@]/.test(word)) throw new Error(`expected a name in the CEL declaration ${this.#text}`)
    return word.replace(/^\./, '')
  }

  receiver(): Type {
    const type = this.type()
    this.expect(')')
    return type
  }

  type(): Type {
    const name = this.word()
    if (!this.accept('(')) return this.#plain(name)
    const params = [this.type()]
    while (this.accept(',')) params.push(this.type())
    this.expect(')')
    if (name === 'list' && params.length === 1) return listOf(params[0]!)
    if (name === 'map' && params.length === 2) return mapOf(params[0]!, params[1]!)
    if (name === 'type' && params.length === 1) return typeOf(params[0]!)
    if (name === 'wrapper' && params.length === 1) return wrapperOf(params[0]!)
    return { kind: 'opaque', name, params }
  }

  #plain(name: string): Type {
    if (Object.hasOwn(SIMPLE, name)) return SIMPLE[name]!
    if (name === 'type') return typeOf(undefined)
    if (name === 'list') return listOf(DYN)
    if (name === 'map') return mapOf(DYN, DYN)
    return PARAMETER.test(name) ? { kind: 'param', name } : objectType(name)
  }

  end(): void {
    if (this.#at < this.#tokens.length)
      throw new Error(`unexpected ${this.#tokens[this.#at]} in the CEL declaration ${this.#text}`)
  }
}
