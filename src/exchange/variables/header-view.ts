import { fromByteText } from '#base/byte-text.ts'
import { HostObject, noSuchKey, type Result, type Value } from '#cel/index.ts'
import type { Head } from '#net/http1/head.ts'

type Form = 'plain' | 'join' | 'raw' | 'split'

/** Fields whose values `redacted()` hides. */
const SENSITIVE: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie'])

/**
 * `request.headers`, `response.headers`: looked up without regard to case, nothing copied (docs/behaviour/http.md, "Headers and
 * queries").
 */
export class HeaderView extends HostObject {
  readonly typeName = 'headers'
  readonly #head: Head
  readonly #form: Form
  readonly #redacted: boolean

  constructor(head: Head, form: Form = 'plain', redacted = false) {
    super()
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
    const map: Record<string, unknown> = {}
    for (const name of this.keys()) map[String(name)] = this.member(String(name))
    return map
  }
}

/** One field: text when it stands once, a list of texts when it is repeated. */
function readHeader(head: Head, name: string, form: Form = 'plain', redacted = false): Value | undefined {
  const first = head.get(name)
  if (first === undefined) return undefined
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

/** The usual case without a list: a field that stands once. */
export function readSingleHeader(head: Head, name: string): Value | undefined {
  const first = head.get(name)
  if (first === undefined) return undefined
  return readHeader(head, name)
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
