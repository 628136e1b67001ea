import { evaluateWithin, WHOLE_BUDGET } from '../budget.ts'
import { CelError, noSuchKey } from '../error.ts'
import type { Result, Value } from '../value.ts'

/** The values of local variables in one evaluation. */
export type Frame = Result[]

/** A compiled expression. */
export type Code<C> = (context: C, frame: Frame) => Result

/** As `Code`, but returns `undefined` for an absent variable or key, which saves its users a call. */
export type RawCode<C> = (context: C, frame: Frame) => Result | undefined

/** A compiled subexpression, with properties for optimisation. */
export interface Node<C> {
  readonly code: Code<C>
  /** Always callable: the same as `code` unless the node reads a variable or key directly. */
  readonly raw: RawCode<C>
  /** The error that `undefined` from `raw` stands for. */
  readonly absent: CelError
  /** The value, if it is constant. */
  readonly constant: Value | undefined
  /** The error, if the node always fails although its operands are constant. */
  readonly failure?: CelError
}

const NEVER_ABSENT = new CelError('failed', 'absent')

export function nodeOf<C>(code: Code<C>): Node<C> {
  return { code, raw: code, absent: NEVER_ABSENT, constant: undefined }
}

export function constantNode<C>(value: Value): Node<C> {
  const code: Code<C> = () => value
  return { code, raw: code, absent: NEVER_ABSENT, constant: value }
}

export function failingNode<C>(error: CelError): Node<C> {
  return nodeOf(() => error)
}

/** A node that reads something that may be missing. */
export function readingNode<C>(path: string, raw: RawCode<C>): Node<C> {
  const absent = noSuchKey(path)
  const code: Code<C> = (context, frame) => {
    const value = raw(context, frame)
    return value === undefined ? absent : value
  }
  return { code, raw, absent, constant: undefined }
}

/** Evaluates a node at compile time if its operands are constant. Errors are kept for the evaluation. */
export function fold<C>(node: Node<C>, operands: readonly Node<C>[]): Node<C> {
  if (operands.some((operand) => operand.constant === undefined)) return node
  const value = evaluateWithin({ left: WHOLE_BUDGET }, () => node.code(undefined as C, []))
  return value instanceof CelError ? { ...node, failure: value } : constantNode(value)
}
