import type { ProblemList } from './source.ts'
import { readBytesLiteral, readStringLiteral } from './string-literal.ts'

/** `text` is the operator, the identifier, the digits, or the decoded string; bytes literals have `bytes`. */
export interface Token {
  readonly kind: 'operator' | 'ident' | 'quoted-ident' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'end'
  readonly text: string
  readonly start: number
  readonly end: number
  readonly bytes?: Uint8Array
}

const SPACE = /(?:[\t\n\f\r ]|\/\/[^\n]*)+/y
const STRING = /([bB]?[rR]?|[rR][bB])("""|'''|"|')/y
const NUMBER = /0[xX][0-9a-fA-F]+[uU]?|(?:\d+\.\d+|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?|\d+[uU]?/y
const IDENT = /[A-Za-z_][A-Za-z0-9_]*/y
const QUOTED = /`[A-Za-z0-9_.\-/ ]+`/y
const OPERATOR = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}=&|]/y

/** Splits a source text into tokens. Invalid characters are reported and skipped. The last token is `end`. */
export function tokenize(source: string, problems: ProblemList): Token[] {
  const tokens: Token[] = []
  let at = 0
  while (at < source.length) {
    at = skip(SPACE, source, at)
    if (at >= source.length) break
    const token =
      readString(source, at, problems) ??
      readNumber(source, at, problems) ??
      readWord(source, at) ??
      readOperator(source, at)
    if (token === undefined) at = reportStranger(source, at, problems)
    else {
      tokens.push(token)
      at = token.end
    }
  }
  tokens.push({ kind: 'end', text: '', start: source.length, end: source.length })
  return tokens
}

function skip(pattern: RegExp, source: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(source) ? pattern.lastIndex : at
}

function match(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(source)
}

function readString(source: string, start: number, problems: ProblemList): Token | undefined {
  const opening = match(STRING, source, start)
  if (opening === null) return undefined
  const [whole, prefix, quote] = opening as unknown as [string, string, string]
  const raw = /[rR]/.test(prefix)
  const bodyStart = start + whole.length
  const bodyEnd = findClosingQuote(source, bodyStart, quote, raw)
  if (bodyEnd === undefined) {
    const end = quote.length === 3 ? source.length : endOfLine(source, bodyStart)
    problems.error('literal', { start, end }, 'string is not closed', source.slice(start, end) + quote)
    return { kind: 'string', text: '', start, end }
  }
  const body = source.slice(bodyStart, bodyEnd)
  const end = bodyEnd + quote.length
  const report = (offset: number, message: string): void =>
    problems.error('literal', { start: bodyStart + offset, end: bodyStart + offset + 2 }, message)
  if (!/[bB]/.test(prefix)) return { kind: 'string', text: readStringLiteral(body, raw, report), start, end }
  return { kind: 'bytes', text: '', bytes: readBytesLiteral(body, raw, report), start, end }
}

function findClosingQuote(source: string, from: number, quote: string, raw: boolean): number | undefined {
  const multiline = quote.length === 3
  for (let i = from; i < source.length; i++) {
    const char = source[i]
    if (char === '\\' && !raw) i++
    else if (!multiline && (char === '\n' || char === '\r')) return undefined
    else if (source.startsWith(quote, i)) return i
  }
  return undefined
}

function endOfLine(source: string, from: number): number {
  const newline = source.slice(from).search(/[\r\n]/)
  return newline < 0 ? source.length : from + newline
}

function readNumber(source: string, start: number, problems: ProblemList): Token | undefined {
  const found = match(NUMBER, source, start)
  if (found === null) return undefined
  const text = found[0]
  const end = start + text.length
  const tail = match(IDENT, source, end)
  if (tail !== null) problems.error('literal', { start, end: end + tail[0].length }, `not a number: ${text}${tail[0]}`)
  const last = end + (tail?.[0].length ?? 0)
  if (/[uU]$/.test(text)) return { kind: 'uint', text: text.slice(0, -1), start, end: last }
  const isInt = /^(?:0[xX]|\d+$)/.test(text)
  return { kind: isInt ? 'int' : 'double', text, start, end: last }
}

function readWord(source: string, start: number): Token | undefined {
  const ident = match(IDENT, source, start)
  if (ident !== null) return { kind: 'ident', text: ident[0], start, end: start + ident[0].length }
  const quoted = match(QUOTED, source, start)
  if (quoted === null) return undefined
  return { kind: 'quoted-ident', text: quoted[0].slice(1, -1), start, end: start + quoted[0].length }
}

function readOperator(source: string, start: number): Token | undefined {
  const found = match(OPERATOR, source, start)
  return found === null ? undefined : { kind: 'operator', text: found[0], start, end: start + found[0].length }
}

/** Reports a run of invalid characters once. */
function reportStranger(source: string, start: number, problems: ProblemList): number {
  const char = String.fromCodePoint(source.codePointAt(start)!)
  const end = start + char.length
  problems.error('syntax', { start, end }, `unexpected character ${JSON.stringify(char)}`)
  return end
}
