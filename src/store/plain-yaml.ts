import { parseJson } from '#base/parse-json.ts'
/** The value of a plain YAML text, and the line of its first character (from 1). */
export interface PlainYaml {
  readonly value: unknown
  readonly line: number
}

/** Printable ASCII lines, without directives and without text after a document marker. */
const PLAIN_TEXT = /^(?!%|---[^\n])[\x20-\x7e\n]*$/
const KEY = /([A-Za-z_][\w./-]{0,200}|"[^"\\]{1,200}"|'[^']{1,200}'):(?= |$)/y
const FLOW_KEY = /[A-Za-z_][\w./-]{0,200}:(?= )|"[^"\\]{1,200}":/y
const FLOW_START = /^[{["']/
/** Words that are null or booleans. */
const WORD = /^(?:null|Null|NULL|true|True|TRUE|false|False|FALSE)$/
const INTEGER = /^(?:0|-?[1-9]\d{0,14})$/
const NUMBER =
  /^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
/** The start of an unquoted string. Three dots are excluded, because they may end a document. */
const PLAIN_START = /^(?!\.\.\.(?: |$))(?:[\w./$(^+;\\]|-\d)/
/** What ends or invalidates an unquoted string. */
const NOT_IN_PLAIN = /:(?: |$)| #/
const NOT_IN_FLOW_PLAIN = /:(?: |$)| #|^-/
const FLOW_PLAIN = /[^,[\]{}]+/y
const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'/y
const REST_OF_LINE = /^ *(?: #.*)?$/
/** Deeper nesting does not occur in real files. */
const MAX_DEPTH = 64

/** The text is not plain YAML. */
class NotPlain extends Error {
  static readonly INSTANCE = new NotPlain('not plain')
}

/**
 * Reads the common subset of YAML: block maps and lists, flow maps and lists on one line, one-line strings, `|` blocks. It is ten times as
 * fast as the YAML library, which reads everything else, including invalid text.
 * @param shared strings that were read before, so that equal strings share memory
 * @returns what the YAML library would return; undefined if the text is not in the subset
 */
export function readPlainYaml(text: string, shared: Map<string, string>): PlainYaml | undefined {
  if (!PLAIN_TEXT.test(text)) return undefined
  try {
    return new PlainReader(text.split('\n'), shared).document()
  } catch (error) {
    if (error instanceof NotPlain) return undefined
    throw error
  }
}

function notPlain(): never {
  throw NotPlain.INSTANCE
}

class PlainReader {
  readonly #lines: readonly string[]
  readonly #scalars: Scalars
  #line = -1
  /** Column of the rest of the current line, after the dash of an item if it was read; -1 at the end of the text. */
  #indent = 0
  #rest = ''
  #depth = 0

  constructor(lines: readonly string[], shared: Map<string, string>) {
    this.#lines = lines
    this.#scalars = new Scalars(shared)
  }

  document(): PlainYaml | undefined {
    if (this.#lines[0] === '---') this.#line = 0
    this.#advance()
    if (this.#indent < 0) return undefined
    const line = this.#line + 1
    const value = this.#block()
    return this.#indent < 0 ? { value, line } : undefined
  }

  /** Advances to the next line that is not empty or a comment. */
  #advance(): void {
    while (++this.#line < this.#lines.length) {
      const text = this.#lines[this.#line]!
      let at = 0
      while (text.charCodeAt(at) === 0x20) at++
      if (at === text.length || text[at] === '#') continue
      this.#indent = at
      this.#rest = text.slice(at)
      return
    }
    this.#indent = -1
    this.#rest = ''
  }

  #block(): unknown {
    if (++this.#depth > MAX_DEPTH) notPlain()
    const value = this.#listOrMap()
    this.#depth--
    return value
  }

  #listOrMap(): unknown {
    if (isItem(this.#rest)) return this.#list(this.#indent)
    if (isKey(this.#rest)) return this.#map(this.#indent)
    return this.#inline(this.#rest.trimEnd(), this.#indent)
  }

  #map(indent: number): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    do {
      KEY.lastIndex = 0
      const [, written = ''] = KEY.exec(this.#rest) ?? notPlain()
      const inline = this.#rest.slice(KEY.lastIndex).trim()
      const key = this.#scalars.key(written)
      if (Object.hasOwn(map, key)) notPlain()
      map[key] = isEmptyValue(inline) ? this.#below(indent, true) : this.#inline(inline, indent)
    } while (this.#indent === indent && !isItem(this.#rest))
    if (this.#indent >= indent) notPlain()
    return map
  }

  #list(indent: number): unknown[] {
    const list: unknown[] = []
    do {
      const inline = this.#rest.slice(1).trim()
      if (isEmptyValue(inline)) {
        list.push(this.#below(indent, false))
      } else if (isItem(inline) || isKey(inline)) {
        this.#indent += this.#rest.indexOf(inline, 1)
        this.#rest = inline
        list.push(this.#block())
      } else {
        list.push(this.#inline(inline, indent))
      }
    } while (this.#indent === indent && isItem(this.#rest))
    return list
  }

  /** The value on the lines below its key or dash. */
  #below(indent: number, isInMap: boolean): unknown {
    this.#advance()
    if (this.#indent > indent) return this.#block()
    return isInMap && this.#indent === indent && isItem(this.#rest) ? this.#list(indent) : null
  }

  /** The value on the same line as its key or dash; only a text block continues on further lines. */
  #inline(text: string, indent: number): unknown {
    if (text[0] === '|') return this.#textBlock(text, indent)
    const value = FLOW_START.test(text) ? this.#flow(text) : this.#scalars.plain(withoutComment(text), NOT_IN_PLAIN)
    this.#advance()
    return value
  }

  #flow(text: string): unknown {
    const flow = new FlowReader(text, this.#scalars)
    const value = flow.value()
    if (!REST_OF_LINE.test(text.slice(flow.at))) notPlain()
    return value
  }

  #textBlock(header: string, indent: number): string {
    if (header !== '|' && header !== '|-') notPlain()
    const found: string[] = []
    let margin = 0
    let end = this.#line
    for (let at = this.#line + 1; at < this.#lines.length; at++) {
      const text = this.#lines[at]!
      const column = text.search(/[^ ]/)
      // Trailing spaces may be part of the text.
      if (column < 0 && text.length > 0) notPlain()
      if (column < 0) continue
      if (margin === 0) margin = column
      if (column < margin || column <= indent) break
      while (++end < at) found.push('')
      found.push(text.slice(margin))
    }
    // If the file ends without a line break, the value may have none either.
    if (found.length === 0 || end === this.#lines.length - 1) notPlain()
    this.#line = end
    this.#advance()
    const text = found.join('\n')
    return header === '|' ? `${text}\n` : text
  }
}

/** Reads a flow value from one line: a quoted string, a map or a list. */
class FlowReader {
  readonly #text: string
  readonly #scalars: Scalars
  /** Index of the next character. */
  at = 0
  #depth = 0

  constructor(text: string, scalars: Scalars) {
    this.#text = text
    this.#scalars = scalars
  }

  value(): unknown {
    const first = this.#text[this.at]
    if (first === '{' || first === '[') return this.#brackets(first)
    if (first === '"' || first === "'") return this.#scalars.quoted(this.#take(QUOTED))
    return this.#scalars.plain(this.#take(FLOW_PLAIN).trimEnd(), NOT_IN_FLOW_PLAIN)
  }

  #brackets(first: '{' | '['): unknown {
    if (++this.#depth > MAX_DEPTH) notPlain()
    this.#skip(1)
    const value = first === '{' ? this.#map() : this.#list()
    this.at++
    this.#depth--
    return value
  }

  #map(): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    if (this.#text[this.at] === '}') return map
    do {
      const key = this.#scalars.key(this.#take(FLOW_KEY).slice(0, -1))
      if (Object.hasOwn(map, key)) notPlain()
      this.#skip(0)
      map[key] = this.value()
    } while (this.#next('}'))
    return map
  }

  #list(): unknown[] {
    const list: unknown[] = []
    if (this.#text[this.at] === ']') return list
    do list.push(this.value())
    while (this.#next(']'))
    return list
  }

  /** Skips a comma. @returns false at the end of the map or list */
  #next(end: string): boolean {
    this.#skip(0)
    const mark = this.#text[this.at]
    if (mark === end) return false
    if (mark !== ',') notPlain()
    this.#skip(1)
    return true
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const [found] = pattern.exec(this.#text) ?? notPlain()
    this.at += found.length
    return found
  }

  /** Skips characters and the spaces after them. */
  #skip(characters: number): void {
    this.at += characters
    while (this.#text[this.at] === ' ') this.at++
  }
}

/** Converts scalars to values. */
class Scalars {
  readonly #shared: Map<string, string>

  constructor(shared: Map<string, string>) {
    this.#shared = shared
  }

  key(written: string): string {
    const isQuoted = written[0] === '"' || written[0] === "'"
    const name = isQuoted ? written.slice(1, -1) : written
    if ((!isQuoted && WORD.test(name)) || name === '__proto__' || name === '<<') notPlain()
    return this.#share(name)
  }

  /** @param forbidden what an unquoted string must not contain */
  plain(text: string, forbidden: RegExp): unknown {
    if (!PLAIN_START.test(text) || forbidden.test(text)) notPlain()
    if (INTEGER.test(text)) return Number(text)
    if (WORD.test(text)) return wordOf(text)
    return NUMBER.test(text) ? notPlain() : this.#share(text)
  }

  quoted(text: string): string {
    if (text[0] === "'") return this.#share(text.slice(1, -1).replaceAll("''", "'"))
    if (!text.includes('\\')) return this.#share(text.slice(1, -1))
    // JSON escapes have the same meaning in YAML.
    try {
      return parseJson(text) as string
    } catch {
      return notPlain()
    }
  }

  #share(text: string): string {
    const known = this.#shared.get(text)
    if (known !== undefined) return known
    this.#shared.set(text, text)
    return text
  }
}

function isItem(text: string): boolean {
  return text[0] === '-' && (text.length === 1 || text[1] === ' ')
}

function isKey(text: string): boolean {
  KEY.lastIndex = 0
  return KEY.test(text)
}

function isEmptyValue(inline: string): boolean {
  return inline === '' || inline[0] === '#'
}

function withoutComment(text: string): string {
  const comment = text.indexOf(' #')
  return comment < 0 ? text : text.slice(0, comment).trimEnd()
}

function wordOf(word: string): boolean | null {
  const first = word[0]!.toLowerCase()
  return first === 'n' ? null : first === 't'
}
