import type { Expr } from './ast.ts'
import { Double, Uint, type Value } from './value.ts'

/** Operator precedence: an operand with higher precedence needs no parentheses. */
const PRECEDENCE: Readonly<Record<string, number>> = {
  conditional: 1,
  '||': 2,
  '&&': 3,
  relation: 4,
  sum: 5,
  product: 6,
  unary: 7,
  member: 8,
}

const BINARY: Readonly<Record<string, string>> = {
  '+': 'sum',
  '-': 'sum',
  '*': 'product',
  '/': 'product',
  '%': 'product',
}

/**
 * Prints an expression in canonical form: parsing the text gives the same tree, and printing that gives the same text. `cel.block` and its
 * slots are printed as the original calls.
 */
export function print(expr: Expr): string {
  switch (expr.kind) {
    case 'literal':
      return printLiteral(expr.value)
    case 'ident':
      return printIdent(expr.name, expr.absolute)
    case 'select':
      return `${within(expr.operand, 'member')}.${expr.optional ? '?' : ''}${printField(expr.field)}`
    case 'has':
      return `has(${within(expr.operand, 'member')}.${expr.optional ? '?' : ''}${printField(expr.field)})`
    case 'index':
      return `${within(expr.operand, 'member')}[${expr.optional ? '?' : ''}${print(expr.index)}]`
    case 'call':
      return printCall(expr.target, `${expr.absolute ? '.' : ''}${expr.name}`, expr.args)
    case 'unary':
      return printUnary(expr.operator, expr.operand)
    case 'binary':
      return `${within(expr.left, precedenceOf(expr))} ${expr.operator} ${within(expr.right, precedenceOf(expr), true)}`
    case 'logic':
      return expr.operands.map((operand) => within(operand, expr.operator, true)).join(` ${expr.operator} `)
    case 'conditional':
      return `${within(expr.condition, '||')} ? ${within(expr.then, '||')} : ${print(expr.otherwise)}`
    case 'list':
      return `[${expr.elements.map(({ value, optional }) => `${optional ? '?' : ''}${print(value)}`).join(', ')}]`
    case 'map':
      return `{${expr.entries.map(({ key, value, optional }) => `${optional ? '?' : ''}${print(key)}: ${print(value)}`).join(', ')}}`
    case 'struct':
      return `${expr.absolute ? '.' : ''}${expr.name}{${expr.fields
        .map(({ name, value, optional }) => `${optional ? '?' : ''}${printField(name)}: ${print(value)}`)
        .join(', ')}}`
    case 'comprehension': {
      const names = expr.variables.map((variable) => printIdent(variable.name, false))
      const parts = expr.filter === undefined ? [expr.body] : [expr.filter, expr.body]
      return `${within(expr.range, 'member')}.${expr.macro}(${[...names, ...parts.map(print)].join(', ')})`
    }
    case 'bind': {
      const name = printIdent(expr.variable.name, false)
      if (expr.macro === 'bind') return `cel.bind(${name}, ${print(expr.value)}, ${print(expr.body)})`
      return `${within(expr.value, 'member')}.${expr.macro}(${name}, ${print(expr.body)})`
    }
    case 'block':
      return `cel.block([${expr.slots.map(print).join(', ')}], ${print(expr.body)})`
    case 'bad':
      return '<error>'
  }
}

function precedenceOf(expr: Expr): string {
  switch (expr.kind) {
    case 'conditional':
      return 'conditional'
    case 'logic':
      return expr.operator
    case 'binary':
      return BINARY[expr.operator] ?? 'relation'
    case 'unary':
      return 'unary'
    default:
      return 'member'
  }
}

/** Adds parentheses if the context has higher precedence; with `strictly` also if it has the same. */
function within(expr: Expr, surroundings: string, strictly = false): string {
  const own = PRECEDENCE[precedenceOf(expr)]!
  const outer = PRECEDENCE[surroundings]!
  const text = print(expr)
  return own < outer || (strictly && own === outer) || isNumberBeforeDot(expr, surroundings) ? `(${text})` : text
}

/** `-1.foo()` would be parsed as a member of a negative literal, and `1.foo` as an invalid number. */
function isNumberBeforeDot(expr: Expr, surroundings: string): boolean {
  return surroundings === 'member' && expr.kind === 'literal' && !isTextual(expr.value)
}

function printCall(target: Expr | undefined, name: string, args: readonly Expr[]): string {
  const head = target === undefined ? '' : `${within(target, 'member')}.`
  return `${head}${name}(${args.map(print).join(', ')})`
}

/** A negated number literal needs parentheses, so that it is not parsed as a negative literal. */
function printUnary(operator: '!' | '-', operand: Expr): string {
  const isNumber = operator === '-' && operand.kind === 'literal' && !isTextual(operand.value)
  return `${operator}${isNumber ? `(${print(operand)})` : within(operand, 'unary')}`
}

function isTextual(value: Value): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || value === null || value instanceof Uint8Array
}

/** Identifiers such as `@index:1` are printed as the calls `cel.index(1)`, `cel.iterVar(0, 1)`. */
function printIdent(name: string, absolute: boolean): string {
  if (!name.startsWith('@')) return `${absolute ? '.' : ''}${name}`
  const [prefix, ...numbers] = name.split(':')
  const call = prefix === '@index' ? 'index' : prefix === '@it' ? 'iterVar' : 'accuVar'
  return `cel.${call}(${numbers.join(', ')})`
}

const KEYWORDS = new Set(['true', 'false', 'null', 'in'])

function printField(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && !KEYWORDS.has(name) ? name : `\`${name}\``
}

function printLiteral(value: Value): string {
  if (typeof value === 'string') return quote(value)
  if (value instanceof Uint) return `${value.value}u`
  if (value instanceof Double) return printDouble(value.value)
  if (value instanceof Uint8Array)
    return `b"${Array.from(value, (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}"`
  return String(value)
}

function printDouble(value: number): string {
  if (Object.is(value, -0)) return '-0.0'
  const text = String(value)
  return /^-?\d+$/.test(text) ? `${text}.0` : text.replace('e+', 'e')
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function quote(text: string): string {
  const escaped = text.replace(/["\\\n\r\t]/g, (char) => ESCAPES[char]!)
  return `"${escaped}"`
}
