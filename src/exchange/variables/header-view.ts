import { fromByteText } from '#base/byte-text.ts'
import { HostObject, type HostType, noSuchKey, type Result, type Value, type Variable } from '#cel/index.ts'
import type { Head } from '#net/http/head.ts'
import type { Exchange } from '../exchange.ts'

type Form = 'plain' | 'join' | 'raw' | 'split'

/** What the checker calls a view: a plain one gives text or a list of texts, and only the evaluation knows which. */
const TYPE_NAMES: Readonly<Record<Form, string>> = {
  plain: 'headers',
  join: 'headers.joined',
  raw: 'headers.lists',
  split: 'headers.lists',
}

/** The types of views, for the checker. */
export const HEADER_TYPES: readonly HostType[] = [
  ['headers', 'dyn'],
  ['headers.joined', 'string'],
  ['headers.lists', 'list(string)'],
].map(([name = '', element = '']) => ({
  name,
  element,
  ...(element === 'dyn' && { doubt: 'a list, when the field is repeated (join() gives text)' }),
  methods: [
    'join() -> headers.joined',
    'raw() -> headers.lists',
    'split() -> headers.lists',
    `redacted() -> ${name}`,
    'cookie(string) -> string',
  ],
}))

/** A variable for the fields of a message; `always`: the message is there in every evaluation. */
export function headerVariable(
  path: string,
  find: (exchange: Exchange) => Head | undefined,
  always: boolean,
): Variable<Exchange> {
  const field = (exchange: Exchange, lowerName: string): Result | undefined => {
    const head = find(exchange)
    return head === undefined ? undefined : readHeader(head, lowerName)
  }
  return {
    path,
    type: 'headers',
    always,
    read: (exchange) => {
      const head = find(exchange)
      return head === undefined ? undefined : new HeaderView(head)
    },
    index: (exchange, name) => field(exchange, name.toLowerCase()),
    prepareIndex: (name) => {
      const lowerName = name.toLowerCase()
      return (exchange) => field(exchange, lowerName)
    },
  }
}

/** Fields whose values `redacted()` hides. */
const SENSITIVE: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie'])

/**
 * `request.headers`, `response.headers`: looked up without regard to case, nothing copied (docs/behaviour/http.md, "Headers and
 * queries").
 */
class HeaderView extends HostObject {
  readonly typeName: string
  readonly #head: Head
  readonly #form: Form
  readonly #redacted: boolean

  constructor(head: Head, form: Form = 'plain', redacted = false) {
    super()
    this.typeName = TYPE_NAMES[form]
    this.#head = head
    this.#form = form
    this.#redacted = redacted
  }

  override member(name: string): Result | undefined {
    return readHeader(this.#head, name.toLowerCase(), this.#form, this.#redacted)
  }

  override has(name: Value): boolean {
    return typeof name === 'string' && this.#head.has(name.toLowerCase())
  }

  override *keys(): Iterable<Value> {
    const names = new Set<string>()
    this.#head.each((name) => names.add(name))
    yield* names
  }

  override call(method: string, [argument]: readonly Value[]): Result | undefined {
    switch (method) {
      case 'join':
      case 'raw':
      case 'split':
        return new HeaderView(this.#head, method, this.#redacted)
      case 'redacted':
        return new HeaderView(this.#head, this.#form, true)
      case 'cookie':
        return typeof argument === 'string' ? (readCookie(this.#head, argument) ?? noSuchKey(argument)) : undefined
      default:
        return undefined
    }
  }

  override toJson(): unknown {
    return Object.fromEntries(Array.from(this.keys(), (name) => [String(name), this.member(String(name))]))
  }
}

/** One field: text when it stands once, a list of texts when it is repeated. */
function readHeader(head: Head, name: string, form: Form = 'plain', redacted = false): Value | undefined {
  if (head.get(name) === undefined) return undefined
  const values = head
    .getAll(name)
    .map((value) => (redacted && SENSITIVE.has(name) ? '<redacted>' : fromByteText(value)))
  switch (form) {
    case 'plain':
      return values.length === 1 ? values[0]! : values
    case 'join':
      return values.join(',')
    case 'raw':
      return values
    case 'split':
      return values.flatMap((value) => value.split(',').map((part) => part.trim()))
  }
}

function readCookie(head: Head, name: string): string | undefined {
  for (const line of head.getAll('cookie')) {
    for (const pair of line.split(';')) {
      const equals = pair.indexOf('=')
      if (equals >= 0 && pair.slice(0, equals).trim() === name) return fromByteText(pair.slice(equals + 1).trim())
    }
  }
  return undefined
}
