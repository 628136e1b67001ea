import { type Document, isAlias, isScalar, type LineCounter, type Node, visit, type YAMLError } from 'yaml'
import { count } from '#base/count.ts'

/** A syntax error with its position. */
export interface SyntaxFault {
  readonly message: string
  readonly line: number
  readonly column: number
}

/** A text that does not parse. */
export interface FaultyText {
  readonly text: string
  readonly document: Document
  readonly lines: LineCounter
}

/** What is wrong, and where; by default at the position that the library reports. */
interface Description {
  readonly message: string
  readonly offset?: number
}

/**
 * Describes a syntax error in the words of users. No message quotes the text, which may be a part of a Secret.
 * @param error the first one of a document; further ones usually result from it
 */
export function describeSyntaxError(error: YAMLError, source: FaultyText): SyntaxFault {
  const [at] = error.pos
  const { message, offset = at } = describe(error, at, source) ?? { message: withoutQuote(error) }
  return { message, ...positionAt(source.lines, offset) }
}

/** Describes an error in the resolution of aliases: an unknown one, or one that expands too much. */
export function describeAliasError(error: Error, { document, lines }: FaultyText): SyntaxFault {
  const unknown = unknownAlias(document)
  const message =
    unknown === undefined
      ? withoutQuote(error)
      : 'a value that starts with * refers to an anchor, and there is none of this name; put other text in quotes'
  return { message, ...positionAt(lines, unknown ?? (document.contents as Node).range?.[0] ?? 0) }
}

function unknownAlias(document: Document): number | undefined {
  let offset: number | undefined
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return undefined
      offset = alias.range?.[0]
      return visit.BREAK
    },
  })
  return offset
}

type Describe = (at: number, source: FaultyText, message: string) => Description | undefined

/** By code of the library. */
const DESCRIPTIONS: { readonly [Code in YAMLError['code']]?: Describe } = {
  DUPLICATE_KEY: (at, { document, lines }) => {
    const first = firstOfKey(document, at)
    const where = first === undefined ? '' : `, first in line ${positionAt(lines, first).line}`
    return { message: `this key is set twice in one mapping${where}` }
  },
  TAB_AS_INDENT: () => ({ message: 'the indentation contains a tab; use spaces' }),
  BAD_INDENT: (at, { text }, message) => {
    if (!message.startsWith('Flow')) return badIndent(nextLine(text, at), text)
    if (/[\]}]/.test(text.slice(at, at + 1))) {
      return { message: `${bracketOf(message)} cannot be closed by "${text[at]}"` }
    }
    return {
      message: `${bracketOf(message)} of a line above is not closed before this line, or this line is not indented`,
    }
  },
  BLOCK_AS_IMPLICIT_KEY: (at, { text }) => {
    const offset = nextLine(text, at)
    if (startsLine(text, at) && /^-\s/.test(restOfLine(text, offset))) {
      if (!followsMapping(offset, text)) return badIndent(offset, text)
      return { message: 'this list item follows keys that are in no list: "- " may be missing before them', offset }
    }
    return /: |:$/m.test(restOfLine(text, at))
      ? { message: 'a value that contains ": " or ends with ":" must be in quotes' }
      : { message: 'this line is indented differently from the lines above that it belongs to', offset }
  },
  MULTILINE_IMPLICIT_KEY: describeNoKey,
  MISSING_CHAR: (at, source, message) => {
    if (message.includes('quote')) {
      const opened = lastQuoted(source.document)
      return { message: 'this quote is not closed', ...(opened !== undefined && { offset: opened }) }
    }
    if (message.startsWith('Flow')) return { message: `${bracketOf(message)} is not closed before the end` }
    if (message.startsWith('Block collection')) return { message: 'the text after "---" must be in the next line' }
    return describeNoKey(at, source)
  },
  BAD_SCALAR_START: () => ({ message: 'a value that starts with @, % or ` must be in quotes' }),
  BAD_DQ_ESCAPE: () => ({
    message: 'there is no such escape in double quotes; write \\\\ for a backslash, or use single quotes',
  }),
  BLOCK_IN_FLOW: () => ({ message: 'a comma is missing: { } and [ ] separate their entries with commas' }),
  KEY_OVER_1024_CHARS: () => ({ message: 'a key has more than 1024 characters' }),
  UNEXPECTED_TOKEN: (at, { text }, message) => {
    if (/flow-(?:seq|map)-end/.test(message)) return { message: 'this bracket closes nothing' }
    if (message.startsWith('Unexpected ,')) return { message: 'there is no entry before this comma' }
    if (message.startsWith('Block scalar header')) {
      return { message: 'the text after | or > must start in the next line' }
    }
    if (/flow-(?:seq|map)-start at node end/.test(message)) return bracketInValue(at, text)
    if (!message.startsWith('Unexpected scalar at node end')) return undefined
    return startsLine(text, at)
      ? { message: 'this line is not part of the list or mapping above' }
      : { message: 'text follows a quoted value; put the whole value in quotes' }
  },
}

function describe({ code, message }: YAMLError, at: number, source: FaultyText): Description | undefined {
  return DESCRIPTIONS[code]?.(at, source, message)
}

/** A key that is a key of none of the mappings around it, or an item of none of the lists; undefined if there are none. */
function badIndent(offset: number, text: string): Description | undefined {
  const own = columnOf(offset, text)
  const isItem = /^-\s/.test(restOfLine(text, offset))
  const around = linesAround(text.slice(0, offset - own)).filter(({ dash }) => !isItem || dash !== '')
  const others = around.map(({ indent, dash }) => indent + (isItem ? 0 : dash.length))
  const [below, above] = [others.filter((indent) => indent < own), others.filter((indent) => indent > own)]
  const nearest = [...below.slice(0, 1), ...above.slice(-1)].join(' or ')
  const [one, several] = isItem ? ['list item', 'items'] : ['key', 'keys']
  if (nearest === '') return undefined
  return { message: `this ${one} is indented by ${count(own, 'space')}, the ${several} above by ${nearest}`, offset }
}

/** Whether the lines of a list item are indented less than those of a mapping above, which has the place of the list. */
function followsMapping(offset: number, text: string): boolean {
  const own = columnOf(offset, text)
  const inner = linesAround(text.slice(0, offset - own)).filter(({ indent }) => indent > own)
  return inner.at(-1)?.dash === ''
}

/** The characters of its line before an offset. */
function columnOf(offset: number, text: string): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1)
}

/** The last line of a text and the first lines of the mappings and lists around it, inner ones first. */
function linesAround(text: string): { readonly indent: number; readonly dash: string }[] {
  const lines: { readonly indent: number; readonly dash: string }[] = []
  for (const line of text.split('\n').reverse()) {
    if (line.startsWith('---')) break
    const [, { length: indent } = '', dash = '', rest = ''] = /^( *)((?:- +)*)(.*)$/.exec(line) ?? []
    if (rest !== '' && !rest.startsWith('#') && indent < (lines.at(-1)?.indent ?? Number.POSITIVE_INFINITY)) {
      lines.push({ indent, dash })
    }
  }
  return lines
}

/** A line among keys that is none. */
function describeNoKey(at: number, { text }: Pick<FaultyText, 'text'>): Description {
  const line = restOfLine(text, startsLine(text, at) ? nextLine(text, at) : at)
  const isKey = startsLine(text, at) && /^[\w./-]+:(?:\s|$)/.test(line)
  const indented = isKey ? badIndent(nextLine(text, at), text) : undefined
  if (indented !== undefined) return indented
  if (/^-\s/.test(line))
    return { message: 'a list item is among the keys of a mapping; indent it under the key of its list' }
  if (/^[\w./-]+:\S/.test(line)) return { message: 'a space is missing after the colon of a key' }
  return bracketInValue(at, text) ?? { message: 'this line must be a key and a value: a name, a colon and a space' }
}

/** A bracket that is not the first character of a value. */
function bracketInValue(at: number, text: string): Description | undefined {
  if (!/^[[{]/.test(text.slice(at, at + 1)) || !/^[^\s[{,:]/.test(text.slice(at - 1, at))) return undefined
  return { message: `a value in brackets that contains "${text[at]}" must be in quotes` }
}

function bracketOf(message: string): string {
  return message.startsWith('Flow map') ? '"{"' : '"["'
}

/** Offset of the first key that is equal to the one at an offset. */
function firstOfKey(document: Document, at: number): number | undefined {
  let first: number | undefined
  visit(document, {
    Map(_, map) {
      const keys = map.items.flatMap(({ key }) => (isScalar(key) && !isAlias(key) ? [key] : []))
      const repeated = keys.find(({ range }) => range?.[0] === at)
      if (repeated === undefined) return undefined
      first = keys.find(({ value }) => value === repeated.value)?.range?.[0]
      return visit.BREAK
    },
  })
  return first
}

/** Offset of the last quoted text: if a quote is not closed, it contains all that follows. */
function lastQuoted(document: Document): number | undefined {
  let last: number | undefined
  visit(document, {
    Scalar(_, { type, range }) {
      if ((type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE') && range) last = range[0]
    },
  })
  return last
}

/** The position may be before the indentation of the line. */
function restOfLine(text: string, at: number): string {
  const end = text.indexOf('\n', at)
  return text.slice(at, end < 0 ? undefined : end).trimStart()
}

function startsLine(text: string, at: number): boolean {
  return /(?:^|\n)[ \t]*$/.test(text.slice(0, at))
}

/** Offset of the first character of the next line that is neither empty nor a comment; if the position starts a line, of that line. */
function nextLine(text: string, at: number): number {
  const from = startsLine(text, at) ? at : text.indexOf('\n', at) + 1
  return from + (/^(?:\s|#.*)*/.exec(text.slice(from))?.[0].length ?? 0)
}

/** Removes the quoted text from a message. */
function withoutQuote({ message }: Error): string {
  return message.replace(/: .*$/s, '')
}

/** Line and column of an offset, from 1. */
export function positionAt(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}
