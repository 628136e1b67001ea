import type { Value } from './value.ts'

/**
 * Members of all nodes: range in the source, and height of the tree. The height is bounded, so that recursion cannot overflow the stack.
 */
interface Node {
  readonly start: number
  readonly end: number
  readonly height: number
}

export type BinaryOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | '+' | '-' | '*' | '/' | '%'

export interface Literal extends Node {
  readonly kind: 'literal'
  readonly value: Value
}

export interface Ident extends Node {
  readonly kind: 'ident'
  readonly name: string
  /** Written with a leading dot: resolved in the root namespace. */
  readonly absolute: boolean
}

export interface Select extends Node {
  readonly kind: 'select'
  readonly operand: Expr
  readonly field: string
  /** `a.?b` */
  readonly optional: boolean
}

/** `has(a.b)` */
export interface Has extends Node {
  readonly kind: 'has'
  readonly operand: Expr
  readonly field: string
  readonly optional: boolean
}

export interface Index extends Node {
  readonly kind: 'index'
  readonly operand: Expr
  readonly index: Expr
  /** `a[?b]` */
  readonly optional: boolean
}

export interface Call extends Node {
  readonly kind: 'call'
  readonly target: Expr | undefined
  readonly name: string
  readonly args: readonly Expr[]
  /** The source range of the name. */
  readonly nameStart: number
  readonly absolute: boolean
}

export interface Unary extends Node {
  readonly kind: 'unary'
  readonly operator: '!' | '-'
  readonly operand: Expr
}

export interface Binary extends Node {
  readonly kind: 'binary'
  readonly operator: BinaryOperator
  readonly left: Expr
  readonly right: Expr
  readonly operatorStart: number
}

/** A chain `a && b && c` as one node. */
export interface Logic extends Node {
  readonly kind: 'logic'
  readonly operator: '&&' | '||'
  readonly operands: readonly Expr[]
}

export interface Conditional extends Node {
  readonly kind: 'conditional'
  readonly condition: Expr
  readonly then: Expr
  readonly otherwise: Expr
}

export interface ListLiteral extends Node {
  readonly kind: 'list'
  readonly elements: readonly { readonly value: Expr; readonly optional: boolean }[]
}

export interface MapLiteral extends Node {
  readonly kind: 'map'
  readonly entries: readonly { readonly key: Expr; readonly value: Expr; readonly optional: boolean }[]
}

/** `pkg.Message{field: value}` */
export interface StructLiteral extends Node {
  readonly kind: 'struct'
  readonly name: string
  readonly absolute: boolean
  readonly fields: readonly {
    readonly name: string
    readonly value: Expr
    readonly optional: boolean
    readonly start: number
    readonly end: number
  }[]
}

export type ComprehensionMacro =
  | 'all'
  | 'exists'
  | 'exists_one'
  | 'existsOne'
  | 'map'
  | 'filter'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry'
  | 'mapValues'
  | 'filterKeys'
  | 'sortBy'

export interface Comprehension extends Node {
  readonly kind: 'comprehension'
  readonly macro: ComprehensionMacro
  readonly range: Expr
  /** One variable (element or key) or two (index or key, and element or value). */
  readonly variables: readonly Binding[]
  /** The filter argument of the longer forms of `map` and `transform...`. */
  readonly filter: Expr | undefined
  readonly body: Expr
}

export interface Binding {
  readonly name: string
  readonly start: number
  readonly end: number
}

/** `cel.bind(x, value, body)`, `value.with(x, body)`, `value.optMap(x, body)`, `value.optFlatMap(x, body)` */
export interface Bind extends Node {
  readonly kind: 'bind'
  readonly macro: 'bind' | 'with' | 'optMap' | 'optFlatMap'
  readonly variable: Binding
  readonly value: Expr
  readonly body: Expr
}

/** `cel.block([slots], body)`; `cel.index(n)` reads a slot. */
export interface Block extends Node {
  readonly kind: 'block'
  readonly slots: readonly Expr[]
  readonly body: Expr
}

/** Expressions with local variables. */
export type BindingExpr = Comprehension | Bind | Block

/** Placeholder for source that could not be parsed; its problem has been reported. */
export interface Bad extends Node {
  readonly kind: 'bad'
}

export type Expr =
  | Literal
  | Ident
  | Select
  | Has
  | Index
  | Call
  | Unary
  | Binary
  | Logic
  | Conditional
  | ListLiteral
  | MapLiteral
  | StructLiteral
  | Comprehension
  | Bind
  | Block
  | Bad

/** The direct subexpressions, in source order. */
export function partsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
    case 'bad':
      return []
    case 'select':
    case 'has':
    case 'unary':
      return [expr.operand]
    case 'index':
      return [expr.operand, expr.index]
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args]
    case 'binary':
      return [expr.left, expr.right]
    case 'logic':
      return expr.operands
    case 'conditional':
      return [expr.condition, expr.then, expr.otherwise]
    case 'list':
      return expr.elements.map(({ value }) => value)
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return expr.fields.map(({ value }) => value)
    case 'comprehension':
      return expr.filter === undefined ? [expr.range, expr.body] : [expr.range, expr.filter, expr.body]
    case 'bind':
      return [expr.value, expr.body]
    case 'block':
      return [...expr.slots, expr.body]
  }
}
