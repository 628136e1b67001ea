import { evaluateWithin, WHOLE_BUDGET } from '../budget.ts'
import { CelError, noSuchKey } from '../error.ts'
import type { Result, Value } from '../value.ts'

/** What one evaluation needs besides the context: the values of local variables. */
export type Frame = Result[]

/** A compiled expression. */
export type Code<C> = (context: C, frame: Frame) => Result

/** As `Code`, but `undefined` for a variable or key that is absent: saves its users a call. */
export type RawCode<C> = (context: C, frame: Frame) => Result | undefined

/** A compiled part, with what its users can take advantage of. */
export interface Node<C> {
  readonly code: Code<C>
  /** Always usable: the same as `code` unless the part reads a variable or key directly. */
  readonly raw: RawCode<C>
  /** What `undefined` from `raw` means. */
  readonly absent: CelError
  /** The value, when it is known before evaluation. */
  readonly constant: Value | undefined
  /** Why the part fails although everything it depends on is constant. */
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

/** A part that reads something which may be absent. */
export function readingNode<C>(path: string, raw: RawCode<C>): Node<C> {
  const absent = noSuchKey(path)
  const code: Code<C> = (context, frame) => {
    const value = raw(context, frame)
    return value === undefined ? absent : value
  }
  return { code, raw, absent, constant: undefined }
}

/** Computes a node ahead when everything it depends on is constant. Failures stay for the evaluation. */
export function fold<C>(node: Node<C>, operands: readonly Node<C>[]): Node<C> {
  if (operands.some((operand) => operand.constant === undefined)) return node
  const value = evaluateWithin({ left: WHOLE_BUDGET }, () => node.code(undefined as C, []))
  return value instanceof CelError ? { ...node, failure: value } : constantNode(value)
}
