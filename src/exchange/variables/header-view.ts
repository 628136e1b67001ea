import { fromByteText, trimSpace } from '#base/byte-text.ts'
import { HostObject, type HostType, noSuchKey, type Result, type Value, type Variable } from '#cel/index.ts'
import type { Head } from '#net/http/head.ts'
import type { Exchange } from '../exchange.ts'

/**
 * Form of a field in a view: joined text (for responses, except `set-cookie`), text joined with commas, a list of lines, or a list of
 * members.
 */
type Form = 'request' | 'response' | 'join' | 'raw' | 'split'

/** Type names of the views, for the checker. */
const TYPE_NAMES: Readonly<Record<Form, string>> = {
  request: 'headers',
  response: 'responseHeaders',
  join: 'headers',
  raw: 'headers.lists',
  split: 'headers.lists',
}

/** Its lines cannot be joined, because dates in them contain commas (RFC 9110, 5.3). */
const NEVER_JOINED = 'set-cookie'

const METHODS = ['join() -> headers', 'raw() -> headers.lists', 'split() -> headers.lists', 'cookie(string) -> string']

/** The types of the views, for the checker. */
export const HEADER_TYPES: readonly HostType[] = [
  { name: 'headers', element: 'string' },
  { name: 'responseHeaders', element: 'string', members: { [NEVER_JOINED]: 'list(string)' }, foldsCase: true },
  { name: 'headers.lists', element: 'list(string)' },
].map((type) => ({ ...type, methods: [...METHODS, `redacted() -> ${type.name}`] }))

/** A variable for the header fields of a message; `always`: the message exists in every evaluation. */
export function headerVariable(
  path: string,
  message: 'request' | 'response',
  find: (exchange: Exchange) => Head | undefined,
  always: boolean,
): Variable<Exchange> {
  const field = (exchange: Exchange, lowerName: string): Result | undefined => {
    const head = find(exchange)
    return head === undefined ? undefined : readHeader(head, lowerName, message)
  }
  return {
    path,
    type: TYPE_NAMES[message],
    always,
    read: (exchange) => {
      const head = find(exchange)
      return head === undefined ? undefined : new HeaderView(head, message)
    },
    index: (exchange, name) => field(exchange, name.toLowerCase()),
    prepareIndex: (name) => {
      const lowerName = name.toLowerCase()
      return (exchange) => field(exchange, lowerName)
    },
  }
}

/** Fields whose values `redacted()` replaces. */
const SENSITIVE: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie'])

/** `request.headers`, `response.headers`: case-insensitive lookups without copying (docs/behaviour/http.md, "Headers and queries"). */
class HeaderView extends HostObject {
  readonly typeName: string
  readonly #head: Head
  readonly #form: Form
  readonly #redacted: boolean

  constructor(head: Head, form: Form, redacted = false) {
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

/** One field in the form of the view (decision A-132). */
function readHeader(head: Head, name: string, form: Form, redacted = false): Value | undefined {
  if (isText(form, name)) {
    const text = head.joined(name)
    if (text === undefined) return undefined
    return redacted && SENSITIVE.has(name) ? '<redacted>' : fromByteText(text)
  }
  if (!head.has(name)) return undefined
  const lines = head.getAll(name).map((line) => (redacted && SENSITIVE.has(name) ? '<redacted>' : fromByteText(line)))
  if (form === 'join') return lines.join(',')
  return form === 'split' ? lines.flatMap((line) => line.split(',').map(trimSpace)) : lines
}

function isText(form: Form, name: string): boolean {
  return form === 'request' || (form === 'response' && name !== NEVER_JOINED)
}

function readCookie(head: Head, name: string): string | undefined {
  for (const line of head.getAll('cookie')) {
    for (const pair of line.split(';')) {
      const equals = pair.indexOf('=')
      if (equals >= 0 && trimSpace(pair.slice(0, equals)) === name)
        return fromByteText(trimSpace(pair.slice(equals + 1)))
    }
  }
  return undefined
}
