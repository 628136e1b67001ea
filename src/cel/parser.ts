import type { BinaryOperator, Expr, ListLiteral, MapLiteral, StructLiteral } from './ast.ts'
import { CelError } from './error.ts'
import { type Token, tokenize } from './lexer.ts'
import { expandMacro } from './macros.ts'
import { toInt, toUint } from './numbers.ts'
import { isAbsolute, qualifiedName } from './qualified-name.ts'
import { type Problem, ProblemList } from './source.ts'
import { Double, type Value } from './value.ts'

/** Maximum number of code points of an expression (specification 1, 7). */
export const MAX_CODE_POINTS = 16_384
/** Maximum nesting of brackets. */
const MAX_NESTING = 200
/** Maximum height of the tree, including chains such as `a + b + c`. */
const MAX_HEIGHT = 400

const RESERVED = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)
const KEYWORDS = new Set(['true', 'false', 'null', 'in'])
const RELATIONS = new Set(['==', '!=', '<', '<=', '>', '>='])
/** Operators of other languages, with the CEL ones. */
const FOREIGN: Readonly<Record<string, string>> = { '&': '&&', '|': '||', '=': '==' }
const FOREIGN_WORDS: Readonly<Record<string, string>> = { and: '&&', or: '||', is: '==' }

export interface Parsed {
  /** Absent if there are errors. */
  readonly expr: Expr | undefined
  readonly problems: readonly Problem[]
}

/** Parses an expression. Never throws; reports all independent errors. */
export function parse(source: string): Parsed {
  const problems = new ProblemList(source)
  const expr = parseInto(source, problems)
  return { expr: problems.hasErrors ? undefined : expr, problems: problems.problems }
}

/** As `parse`, but reports to a given list. */
export function parseInto(source: string, problems: ProblemList): Expr {
  if (source.length > MAX_CODE_POINTS && [...source].length > MAX_CODE_POINTS) {
    problems.error('too-long', { start: 0, end: 0 }, `expression is longer than ${MAX_CODE_POINTS} characters`)
    return { kind: 'bad', start: 0, end: 0, height: 1 }
  }
  return new Parser(tokenize(source, problems), problems).parseAll()
}

type Draft<E> = E extends Expr ? Omit<E, 'height'> : never

class Parser {
  readonly #tokens: readonly Token[]
  readonly #problems: ProblemList
  #position = 0
  #nesting = 0

  constructor(tokens: readonly Token[], problems: ProblemList) {
    this.#tokens = tokens
    this.#problems = problems
  }

  parseAll(): Expr {
    if (this.#peek().kind === 'end') {
      this.#problems.error('syntax', this.#peek(), 'expression is empty')
      return this.#bad()
    }
    let expr = this.#expression()
    while (this.#peek().kind !== 'end') {
      this.#reportTrailing()
      if (this.#peek().kind !== 'end') expr = this.#expression()
    }
    return expr
  }

  /** Text after a complete expression: suggests the probable intention and continues after it. */
  #reportTrailing(): void {
    const token = this.#next()
    const meant = FOREIGN[token.text] ?? FOREIGN_WORDS[token.text.toLowerCase()]
    this.#problems.error('syntax', token, `unexpected ${describe(token)} after the expression`, meant)
    if (meant === undefined && token.text !== ',') this.#position = this.#tokens.length - 1
  }

  #peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#position + ahead, this.#tokens.length - 1)]!
  }

  #next(): Token {
    const token = this.#peek()
    if (this.#position < this.#tokens.length - 1) this.#position++
    return token
  }

  #isOperator(text: string): boolean {
    const token = this.#peek()
    return token.kind === 'operator' && token.text === text
  }

  #accept(text: string): boolean {
    if (!this.#isOperator(text)) return false
    this.#position++
    return true
  }

  /** Requires a closing bracket; without one, skips to a position where parsing can continue. */
  #close(text: string, opening: Token): number {
    const token = this.#peek()
    if (this.#accept(text)) return token.end
    this.#problems.error('syntax', token, `expected ${text} to close ${opening.text}, found ${describe(token)}`)
    let depth = 0
    while (this.#peek().kind !== 'end') {
      const here = this.#peek().kind === 'operator' ? this.#peek().text : ''
      if (depth === 0 && here === text) return this.#next().end
      if (depth === 0 && /^[)\]}]$/.test(here)) break
      if (/^[([{]$/.test(here)) depth++
      if (/^[)\]}]$/.test(here)) depth--
      this.#position++
    }
    return this.#peek().start
  }

  #node<E extends Draft<Expr>>(draft: E, children: readonly Expr[]): Expr {
    let height = 1
    for (const child of children) height = Math.max(height, child.height + 1)
    if (height <= MAX_HEIGHT) return { ...draft, height } as unknown as Expr
    this.#problems.error('too-deep', draft, `expression is more than ${MAX_HEIGHT} operations deep`)
    return { kind: 'bad', start: draft.start, end: draft.end, height: 1 }
  }

  #bad(): Expr {
    const { start } = this.#peek()
    return { kind: 'bad', start, end: start, height: 1 }
  }

  #expression(): Expr {
    if (this.#nesting >= MAX_NESTING) {
      this.#problems.error('too-deep', this.#peek(), `brackets are more than ${MAX_NESTING} deep`)
      this.#position = this.#tokens.length - 1
      return this.#bad()
    }
    this.#nesting++
    const condition = this.#logic('||')
    const expr = this.#isOperator('?') ? this.#conditional(condition) : condition
    this.#nesting--
    return expr
  }

  #conditional(condition: Expr): Expr {
    const question = this.#next()
    const then = this.#logic('||')
    if (!this.#accept(':')) {
      this.#problems.error('syntax', this.#peek(), `expected : after the ? branch, found ${describe(this.#peek())}`)
      return this.#node(
        { kind: 'conditional', condition, then, otherwise: this.#bad(), start: condition.start, end: question.end },
        [then],
      )
    }
    const otherwise = this.#expression()
    const range = { start: condition.start, end: otherwise.end }
    return this.#node({ kind: 'conditional', condition, then, otherwise, ...range }, [condition, then, otherwise])
  }

  #logic(operator: '&&' | '||'): Expr {
    const operand = (): Expr => (operator === '||' ? this.#logic('&&') : this.#relation())
    const first = operand()
    if (!this.#isOperator(operator)) return first
    const operands = [first]
    while (this.#accept(operator)) operands.push(operand())
    const range = { start: first.start, end: operands[operands.length - 1]!.end }
    return this.#node({ kind: 'logic', operator, operands, ...range }, operands)
  }

  #relation(): Expr {
    return this.#binary(
      () => this.#sum(),
      (token) =>
        token.kind === 'operator' ? RELATIONS.has(token.text) : token.kind === 'ident' && token.text === 'in',
    )
  }

  #sum(): Expr {
    return this.#binary(
      () => this.#product(),
      (token) => token.kind === 'operator' && (token.text === '+' || token.text === '-'),
    )
  }

  #product(): Expr {
    return this.#binary(
      () => this.#unary(),
      (token) => token.kind === 'operator' && (token.text === '*' || token.text === '/' || token.text === '%'),
    )
  }

  #binary(operand: () => Expr, takes: (token: Token) => boolean): Expr {
    let left = operand()
    while (takes(this.#peek())) {
      const token = this.#next()
      const right = operand()
      const operator = token.text as BinaryOperator
      const range = { start: left.start, end: right.end, operatorStart: token.start }
      left = this.#node({ kind: 'binary', operator, left, right, ...range }, [left, right])
    }
    return left
  }

  #unary(): Expr {
    const token = this.#peek()
    if (this.#isOperator('-') && isNumber(this.#peek(1)) && this.#peek(1).start === token.end) return this.#member()
    if (!this.#isOperator('!') && !this.#isOperator('-')) return this.#member()
    let count = 0
    while (this.#isOperator(token.text) && !(token.text === '-' && isNumber(this.#peek(1)) && count > 0)) {
      this.#position++
      count++
    }
    const operand = this.#isOperator('!') || this.#isOperator('-') ? this.#negatedOperand() : this.#member()
    if (count % 2 === 0 && operand.kind !== 'bad') return this.#twice(token, operand)
    const range = { start: token.start, end: operand.end }
    return this.#node({ kind: 'unary', operator: token.text as '!' | '-', operand, ...range }, [operand])
  }

  /** `!-x` and `-!x`: the operand begins with the other sign. */
  #negatedOperand(): Expr {
    if (this.#nesting >= MAX_NESTING) return this.#expression()
    this.#nesting++
    const operand = this.#unary()
    this.#nesting--
    return operand
  }

  /** `!!x` keeps one pair, so that the type is still checked; the value is the same for every even number. */
  #twice(token: Token, operand: Expr): Expr {
    const operator = token.text as '!' | '-'
    const range = { start: token.start, end: operand.end }
    const once = this.#node({ kind: 'unary', operator, operand, ...range }, [operand])
    return this.#node({ kind: 'unary', operator, operand: once, ...range }, [once])
  }

  #member(): Expr {
    let expr = this.#primary()
    for (;;) {
      if (this.#isOperator('.')) expr = this.#selection(expr)
      else if (this.#isOperator('[')) expr = this.#indexing(expr)
      else if (this.#isOperator('{') && isQualifiedName(expr)) expr = this.#struct(expr)
      else return expr
    }
  }

  #selection(operand: Expr): Expr {
    this.#next()
    const optional = this.#accept('?')
    const token = this.#peek()
    if (token.kind !== 'ident' && token.kind !== 'quoted-ident') {
      this.#problems.error('syntax', token, `expected a name after the dot, found ${describe(token)}`)
      return { kind: 'bad', start: operand.start, end: token.start, height: 1 }
    }
    this.#next()
    if (token.kind === 'ident' && KEYWORDS.has(token.text)) {
      this.#problems.error(
        'syntax',
        token,
        `${token.text} cannot be a member name; quote it: \`${token.text}\``,
        `\`${token.text}\``,
      )
    }
    if (token.kind === 'ident' && !optional && this.#isOperator('(')) return this.#call(operand, token, false)
    const range = { start: operand.start, end: token.end }
    return this.#node({ kind: 'select', operand, field: token.text, optional, ...range }, [operand])
  }

  #indexing(operand: Expr): Expr {
    const opening = this.#next()
    const optional = this.#accept('?')
    const index = this.#expression()
    const end = this.#close(']', opening)
    return this.#node({ kind: 'index', operand, index, optional, start: operand.start, end }, [operand, index])
  }

  #call(target: Expr | undefined, name: Token, absolute: boolean): Expr {
    const opening = this.#next()
    const args = this.#list(')', () => this.#expression())
    const end = this.#close(')', opening)
    const start = target?.start ?? name.start
    const draft = { target, name: name.text, args, start, end, nameStart: name.start, absolute }
    const macro = absolute ? undefined : expandMacro(draft, this.#problems)
    if (macro !== undefined) return this.#node(macro.draft, macro.children)
    return this.#node({ kind: 'call', ...draft }, target === undefined ? args : [target, ...args])
  }

  /** Items up to the closing bracket, which is not consumed; a literal may have a trailing comma. */
  #list<T>(closing: string, item: () => T): T[] {
    const items: T[] = []
    while (!this.#isOperator(closing) && this.#peek().kind !== 'end') {
      const before = this.#position
      items.push(item())
      if (!this.#accept(',')) break
      if (closing === ')' && this.#isOperator(')')) {
        this.#problems.error('syntax', this.#peek(), 'expected an argument after the comma, found )')
      }
      if (this.#position === before) break
    }
    return items
  }

  #primary(): Expr {
    const token = this.#peek()
    switch (token.kind) {
      case 'operator':
        return this.#bracketOrSign(token)
      case 'ident':
        return this.#identifier(token, false)
      case 'end':
      case 'quoted-ident':
        return this.#unexpected(token)
      default:
        this.#next()
        return this.#literal(token, token.start, '')
    }
  }

  #bracketOrSign(token: Token): Expr {
    switch (token.text) {
      case '(':
        return this.#parenthesis()
      case '[':
        return this.#listLiteral()
      case '{':
        return this.#mapLiteral()
      case '.':
        if (this.#peek(1).kind !== 'ident') return this.#unexpected(token)
        this.#next()
        return this.#identifier(this.#peek(), true)
      case '-': {
        this.#next()
        const number = this.#next()
        return this.#literal(number, token.start, '-')
      }
      default:
        return this.#unexpected(token)
    }
  }

  #parenthesis(): Expr {
    const opening = this.#next()
    const expr = this.#expression()
    this.#close(')', opening)
    return expr
  }

  /** Reports once, and leaves closing brackets and commas to the caller. */
  #unexpected(token: Token): Expr {
    const what = token.kind === 'end' ? 'unexpected end of the expression' : `unexpected ${describe(token)}`
    this.#problems.error('syntax', token, what)
    const bad = this.#bad()
    if (token.kind !== 'end' && !/^[)\]},:]$/.test(token.text)) this.#next()
    return bad
  }

  #identifier(token: Token, absolute: boolean): Expr {
    this.#next()
    const start = absolute ? token.start - 1 : token.start
    const range = { start, end: token.end }
    if (!absolute && (token.text === 'true' || token.text === 'false')) {
      return this.#node({ kind: 'literal', value: token.text === 'true', ...range }, [])
    }
    if (!absolute && token.text === 'null') return this.#node({ kind: 'literal', value: null, ...range }, [])
    if (token.text === 'in' || RESERVED.has(token.text)) {
      this.#problems.error('syntax', token, `${token.text} is a reserved word`)
      return { kind: 'bad', ...range, height: 1 }
    }
    if (this.#isOperator('(')) return this.#call(undefined, token, absolute)
    return this.#node({ kind: 'ident', name: token.text, absolute, ...range }, [])
  }

  #literal(token: Token, start: number, sign: '' | '-'): Expr {
    const value = this.#literalValue(token, sign)
    return this.#node({ kind: 'literal', value, start, end: token.end }, [])
  }

  #literalValue(token: Token, sign: '' | '-'): Value {
    if (token.kind === 'string') return token.text
    if (token.kind === 'bytes') return token.bytes!
    if (token.kind === 'double') return this.#doubleValue(token, sign)
    const magnitude = BigInt(token.text)
    const value =
      token.kind === 'uint'
        ? toUint(sign === '-' ? -magnitude : magnitude)
        : toInt(sign === '-' ? -magnitude : magnitude)
    if (!(value instanceof CelError)) return value
    this.#problems.error('literal', token, `${token.kind === 'uint' ? 'uint' : 'int'} literal is out of range`)
    return 0
  }

  #doubleValue(token: Token, sign: '' | '-'): Value {
    const value = Number(sign + token.text)
    if (!Number.isFinite(value)) this.#problems.error('literal', token, 'double literal is out of range')
    return new Double(value)
  }

  #listLiteral(): Expr {
    const opening = this.#next()
    const elements: ListLiteral['elements'] = this.#list(']', () => {
      const optional = this.#accept('?')
      return { value: this.#expression(), optional }
    })
    const end = this.#close(']', opening)
    return this.#node(
      { kind: 'list', elements, start: opening.start, end },
      elements.map((element) => element.value),
    )
  }

  #mapLiteral(): Expr {
    const opening = this.#next()
    const entries: MapLiteral['entries'] = this.#list('}', () => {
      const optional = this.#accept('?')
      const key = this.#expression()
      this.#colon('the key')
      return { key, value: this.#expression(), optional }
    })
    const end = this.#close('}', opening)
    const children = entries.flatMap((entry) => [entry.key, entry.value])
    return this.#node({ kind: 'map', entries, start: opening.start, end }, children)
  }

  #colon(after: string): void {
    if (this.#accept(':')) return
    const token = this.#peek()
    this.#problems.error('syntax', token, `expected : after ${after}, found ${describe(token)}`)
  }

  #struct(type: Expr): Expr {
    const opening = this.#next()
    const fields: StructLiteral['fields'] = this.#list('}', () => {
      const optional = this.#accept('?')
      const name = this.#next()
      if (name.kind !== 'ident' && name.kind !== 'quoted-ident') {
        this.#problems.error('syntax', name, `expected a field name, found ${describe(name)}`)
      }
      this.#colon('the field name')
      return { name: name.text, value: this.#expression(), optional, start: name.start, end: name.end }
    })
    const end = this.#close('}', opening)
    const name = qualifiedName(type)!
    const draft = { kind: 'struct', name, absolute: isAbsolute(type), fields, start: type.start, end } as const
    return this.#node(
      draft,
      fields.map((field) => field.value),
    )
  }
}

function isNumber(token: Token): boolean {
  return token.kind === 'int' || token.kind === 'uint' || token.kind === 'double'
}

function isQualifiedName(expr: Expr): boolean {
  return qualifiedName(expr) !== undefined
}

function describe(token: Token): string {
  if (token.kind === 'end') return 'the end'
  if (token.kind === 'string' || token.kind === 'bytes') return 'a string'
  return token.text === '' ? token.kind : JSON.stringify(token.text)
}
