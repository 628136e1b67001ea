/** The value of a text in plain YAML, and the line of its first character, from 1. */
export interface PlainYaml {
  readonly value: unknown
  readonly line: number
}

/** Printable ASCII in lines; without directives, and text beside the marker of a document. */
const ORDINARY = /^(?!%|---[^\n])[\x20-\x7e\n]*$/
const KEY = /([A-Za-z_][\w./-]{0,200}|"[^"\\]{1,200}"|'[^']{1,200}'):(?= |$)/y
const FLOW_KEY = /[A-Za-z_][\w./-]{0,200}:(?= )|"[^"\\]{1,200}":/y
const FLOW_START = /^[{["']/
/** Words that are no texts. */
const WORD = /^(?:null|Null|NULL|true|True|TRUE|false|False|FALSE)$/
const INTEGER = /^(?:0|-?[1-9]\d{0,14})$/
const NUMBER =
  /^(?:[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
/** The first characters of texts without quotes, as far as they mean nothing else: three dots may end a document. */
const PLAIN_START = /^(?!\.\.\.(?: |$))(?:[\w./$(^+;\\]|-\d)/
/** What a text without quotes must not hold. */
const NOT_IN_PLAIN = /:(?: |$)| #/
const NOT_IN_FLOW_PLAIN = /:(?: |$)| #|^-/
const FLOW_PLAIN = /[^,[\]{}]+/y
const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'/y
const REST_OF_LINE = /^ *(?: #.*)?$/
/** Deeper texts are none that people write. */
const MAX_DEPTH = 64

/** The text is more than plain. */
class NotPlain extends Error {
  static readonly INSTANCE = new NotPlain('not plain')
}

/**
 * Reads YAML as most people write it: block maps and lists, flow maps and lists on one line, texts on one line, `|` blocks. It is
 * ten times as fast as the YAML library, which reads everything else, and whatever is faulty.
 * @param shared texts that were read before, so that equal ones are one
 * @returns what the YAML library would return; undefined when the text may hold anything that is not plain
 */
export function readPlainYaml(text: string, shared: Map<string, string>): PlainYaml | undefined {
  if (!ORDINARY.test(text)) return undefined
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
  /** Column of what is left of the current line, of which the dash of an item may have been read; -1 at the end of the text. */
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

  /** Goes to the next line that says something. */
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
      map[key] = isNothing(inline) ? this.#below(indent, true) : this.#inline(inline, indent)
    } while (this.#indent === indent && !isItem(this.#rest))
    if (this.#indent >= indent) notPlain()
    return map
  }

  #list(indent: number): unknown[] {
    const list: unknown[] = []
    do {
      const inline = this.#rest.slice(1).trim()
      if (isNothing(inline)) {
        list.push(this.#below(indent, false))
      } else if (isItem(inline) || isKey(inline)) {
        this.#indent += this.#rest.indexOf(inline, 1)
        this.#rest = inline
        list.push(this.#block())
      } else {
        list.push(this.#inline(inline, indent))
      }
    } while (this.#indent === indent && isItem(this.#rest))
    if (this.#indent > indent) notPlain()
    return list
  }

  /** The value on the lines below its key or dash. */
  #below(indent: number, isInMap: boolean): unknown {
    this.#advance()
    if (this.#indent > indent) return this.#block()
    return isInMap && this.#indent === indent && isItem(this.#rest) ? this.#list(indent) : null
  }

  /** The value beside its key or dash; it has no lines below, unless it is a block of text. */
  #inline(text: string, indent: number): unknown {
    if (text[0] === '|') return this.#textBlock(text, indent)
    const value = FLOW_START.test(text) ? this.#flow(text) : this.#scalars.plain(withoutComment(text), NOT_IN_PLAIN)
    this.#advance()
    if (this.#indent > indent) notPlain()
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
      // Blanks may be text as well.
      if (column < 0 && text.length > 0) notPlain()
      if (column < 0) continue
      if (margin === 0) margin = column
      if (column < margin || column <= indent) break
      while (++end < at) found.push('')
      found.push(text.slice(margin))
    }
    // Where the text ends without a line break, the value may have none either.
    if (found.length === 0 || end === this.#lines.length - 1) notPlain()
    this.#line = end
    this.#advance()
    if (this.#indent > indent) notPlain()
    const text = found.join('\n')
    return header === '|' ? `${text}\n` : text
  }
}

/** Reads one value from a line: a quoted text, or a map or list in brackets. */
class FlowReader {
  readonly #text: string
  readonly #scalars: Scalars
  /** Where the value ends. */
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
    this.#pass(1)
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
      this.#pass(0)
      map[key] = this.value()
    } while (this.#goesOn('}'))
    return map
  }

  #list(): unknown[] {
    const list: unknown[] = []
    if (this.#text[this.at] === ']') return list
    do list.push(this.value())
    while (this.#goesOn(']'))
    return list
  }

  /** Goes over a comma to the next member. */
  #goesOn(end: string): boolean {
    this.#pass(0)
    const mark = this.#text[this.at]
    if (mark === end) return false
    if (mark !== ',') notPlain()
    this.#pass(1)
    return true
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const [found] = pattern.exec(this.#text) ?? notPlain()
    this.at += found.length
    return found
  }

  /** Goes over some characters and the blanks behind them. */
  #pass(characters: number): void {
    this.at += characters
    while (this.#text[this.at] === ' ') this.at++
  }
}

/** Values of literal scalars. */
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

  /** @param forbidden what makes the text another one, or a fault */
  plain(text: string, forbidden: RegExp): unknown {
    if (!PLAIN_START.test(text) || forbidden.test(text)) notPlain()
    if (INTEGER.test(text)) return Number(text)
    if (WORD.test(text)) return wordOf(text)
    return NUMBER.test(text) ? notPlain() : this.#share(text)
  }

  quoted(text: string): string {
    if (text[0] === "'") return this.#share(text.slice(1, -1).replaceAll("''", "'"))
    if (!text.includes('\\')) return this.#share(text.slice(1, -1))
    // The escapes that JSON has mean the same in YAML.
    try {
      return JSON.parse(text) as string
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

function isNothing(inline: string): boolean {
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
