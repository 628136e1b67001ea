/** A piece of TypeScript source: a name, a plain string literal without its quotes, or anything else as written. */
export interface Token {
  readonly kind: 'name' | 'string' | 'other'
  readonly text: string
  /** Counted from 1. */
  readonly line: number
}

interface Piece {
  readonly kind: Token['kind'] | 'space'
  readonly text: string
}

/** Space, a name, a string or a number: one pattern, because every position of every file is tried. */
const PIECE =
  /((?:\s|\/\/[^\n]*|\/\*.*?\*\/)+)|([\p{ID_Start}$_][\p{ID_Continue}$]*)|('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|\d[\w.]*/suy
const REGEX = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
/** The part of a template literal up to its end or to the next `${`. */
const TEMPLATE_PART = /(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)/sy

/** Names after which a slash begins a regular expression; after any other name it divides. */
const OPERATORS = new Set(['return', 'typeof', 'case', 'in', 'of', 'do', 'else', 'void', 'delete', 'yield', 'await'])

/**
 * The tokens of a TypeScript source, without space and comments. It knows just enough of the language not to mistake the
 * inside of a string, a template, a regular expression or a comment for code; what it cannot read it passes on character
 * by character.
 */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = []
  const braces: number[] = []
  let line = 1
  for (let position = 0; position < source.length; ) {
    const { kind, text } = readPiece(source, position, tokens.at(-1), braces)
    if (kind !== 'space') tokens.push({ kind, text: kind === 'string' ? text.slice(1, -1) : text, line })
    position += text.length
    if (text.includes('\n')) line += text.split('\n').length - 1
  }
  return tokens
}

/** `braces` holds for each open `${` the number of braces opened inside it; it is kept up to date. */
function readPiece(source: string, position: number, previous: Token | undefined, braces: number[]): Piece {
  PIECE.lastIndex = position
  const [text, space, name, literal] = PIECE.exec(source) ?? []
  if (text !== undefined) {
    const kind =
      space !== undefined ? 'space' : name !== undefined ? 'name' : literal !== undefined ? 'string' : 'other'
    return { kind, text }
  }
  const regex = regexMayFollow(previous) ? matchAt(REGEX, source, position) : undefined
  return { kind: 'other', text: regex ?? readPunctuation(source, position, braces) }
}

function readPunctuation(source: string, position: number, braces: number[]): string {
  const char = source[position]!
  const open = braces.at(-1)
  if (char === '`' || (char === '}' && open === 0)) {
    if (char === '}') braces.pop()
    const part = matchAt(TEMPLATE_PART, source, position + 1) ?? ''
    if (part.endsWith('${')) braces.push(0)
    return char + part
  }
  if (open !== undefined && char === '{') braces.splice(-1, 1, open + 1)
  if (open !== undefined && char === '}') braces.splice(-1, 1, open - 1)
  return char
}

function matchAt(pattern: RegExp, source: string, position: number): string | undefined {
  pattern.lastIndex = position
  return pattern.exec(source)?.[0]
}

function regexMayFollow(previous: Token | undefined): boolean {
  if (previous === undefined) return true
  if (previous.kind === 'name') return OPERATORS.has(previous.text)
  if (previous.kind === 'string') return false
  return previous.text.endsWith('${') || /[^\w)\]}`/]$/.test(previous.text)
}
