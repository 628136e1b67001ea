import { parseAst } from 'vitest/node'

/** One change of a source text that its tests should notice. */
export interface Mutant {
  /** Offsets of what is replaced. */
  readonly start: number
  readonly end: number
  readonly replacement: string
  readonly original: string
  /** Line of `start`, from 1. */
  readonly line: number
}

/** A node of the syntax tree, by ESTree and what it adds for TypeScript. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [member: string]: unknown
}

/** @returns the mutants of `source`, in the order of the text */
export function mutantsOf(source: string): Mutant[] {
  const mutants: Mutant[] = []
  const add = (start: number, end: number, replacement: string) => {
    const original = source.slice(start, end)
    const line = source.slice(0, start).split('\n').length
    if (original !== replacement) mutants.push({ start, end, replacement, original, line })
  }
  walk(parseAst(source, { lang: 'ts' }) as unknown as Node, (node) => mutateNode(node, source, add))
  return mutants.toSorted((a, b) => a.start - b.start || a.end - b.end)
}

/** @returns the whole text with the mutant in it */
export function applyMutant(source: string, { start, end, replacement }: Mutant): string {
  return source.slice(0, start) + replacement + source.slice(end)
}

type Add = (start: number, end: number, replacement: string) => void

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '&': ['|'],
  '|': ['&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '+=': ['-='],
  '-=': ['+='],
  '|=': ['&='],
  '&=': ['|='],
  '??=': ['='],
  '++': ['--'],
  '--': ['++'],
}

/** Wrappers of an expression that are erased; every other node of TypeScript is a type. */
const ERASED_WRAPPERS = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression'])

/** Calls `visit` for the nodes that run, and skips below those for which it returns false. */
function walk(node: Node, visit: (node: Node) => boolean): void {
  if (node.type.startsWith('TS') && !ERASED_WRAPPERS.has(node.type)) return
  if (!visit(node)) return
  for (const [name, member] of Object.entries(node)) {
    // The name of a member is no value.
    if ((name === 'key' || name === 'property') && node.computed === false) continue
    for (const child of Array.isArray(member) ? member : [member]) if (isNode(child)) walk(child, visit)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** @returns whether what is below the node is to be mutated as well */
function mutateNode(node: Node, source: string, add: Add): boolean {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
      return false
    case 'ExportNamedDeclaration':
      return !isNode(node.source)
    case 'ThrowStatement':
      // A thrown error is a bug; its text is not part of any contract.
      return false
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression':
      mutateOperator(node, source, add)
      return true
    case 'UpdateExpression':
      mutateUpdate(node, add)
      return true
    case 'UnaryExpression':
      if (node.operator === '!') add(node.start, node.end, text(node.argument as Node, source))
      return true
    case 'IfStatement':
    case 'ConditionalExpression':
      mutateCondition(node, add)
      return true
    case 'WhileStatement':
    case 'ForStatement': {
      const condition = node.test
      if (isNode(condition)) add(condition.start, condition.end, 'false')
      return true
    }
    case 'ExpressionStatement':
      mutateStatement(node, add)
      return true
    case 'ReturnStatement':
      mutateReturn(node, add)
      return true
    case 'ArrowFunctionExpression':
      if (node.expression === true) mutateResult(node.body as Node, add)
      return true
    case 'Literal':
      mutateLiteral(node, source, add)
      return true
    case 'MemberExpression':
    case 'CallExpression':
      if (node.optional === true) mutateOptional(node, source, add)
      return true
    default:
      return true
  }
}

function mutateOperator(node: Node, source: string, add: Add): void {
  const [left, right] = [node.left as Node, node.right as Node]
  const operator = String(node.operator)
  if (operator === '+' && (isText(left) || isText(right))) return
  const start = source.indexOf(operator, left.end)
  for (const other of OPERATORS[operator] ?? []) {
    // `a ?? b || c` is no JavaScript.
    if (node.type === 'LogicalExpression') add(node.start, node.end, logical(left, other, right, source))
    else add(start, start + operator.length, other)
  }
}

function logical(left: Node, operator: string, right: Node, source: string): string {
  return `((${text(left, source)}) ${operator} (${text(right, source)}))`
}

function isText(node: Node): boolean {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string')
}

function mutateUpdate(node: Node, add: Add): void {
  const operator = String(node.operator)
  const start = node.prefix === true ? node.start : node.end - operator.length
  for (const other of OPERATORS[operator] ?? []) add(start, start + operator.length, other)
}

function mutateCondition(node: Node, add: Add): void {
  const condition = node.test as Node
  add(condition.start, condition.end, 'true')
  const consequent = node.consequent as Node
  // A guard against a bug: when there is none, it changes nothing.
  if (consequent.type !== 'ThrowStatement') add(condition.start, condition.end, 'false')
}

function mutateStatement(node: Node, add: Add): void {
  const { type } = node.expression as Node
  // A directive, or a literal that does nothing.
  if (type !== 'Literal') add(node.start, node.end, ';')
}

function mutateReturn(node: Node, add: Add): void {
  const value = node.argument
  if (isNode(value)) mutateResult(value, add)
  else add(node.start, node.end, ';')
}

/** `proceed` is what a step says that does nothing (`exchange/outcome.ts`). */
const NAMES_OF_UNDEFINED = new Set(['undefined', 'proceed'])

function mutateResult(value: Node, add: Add): void {
  const known = value.type === 'Literal' || (value.type === 'Identifier' && NAMES_OF_UNDEFINED.has(String(value.name)))
  if (!known && value.type !== 'UnaryExpression') add(value.start, value.end, 'undefined')
}

function mutateLiteral(node: Node, source: string, add: Add): void {
  const value = node.value
  if (typeof value === 'boolean') add(node.start, node.end, String(!value))
  if (typeof value === 'number') add(node.start, node.end, `(${text(node, source)} + 1)`)
  // Prose may be worded anew.
  if (typeof value === 'string' && !value.includes(' ')) add(node.start, node.end, value === '' ? "'mutated'" : "''")
}

function mutateOptional(node: Node, source: string, add: Add): void {
  const object = (node.object ?? node.callee) as Node
  const start = source.indexOf('?.', object.end)
  const isMember = node.type === 'MemberExpression' && node.computed === false
  add(start, start + 2, isMember ? '.' : '')
}

function text(node: Node, source: string): string {
  return source.slice(node.start, node.end)
}
