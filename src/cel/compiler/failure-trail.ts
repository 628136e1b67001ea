import { CelError } from '../error.ts'
import type { Range } from '../source.ts'
import type { Code, Node, RawCode } from './node.ts'

/** Traces one evaluation to find the first part of the expression that failed. Used only when the cause of a failure is needed. */
export class FailureTrail {
  readonly #found: { readonly error: CelError; readonly range: Range }[] = []

  /** Wraps a node to record its failures, but not those of its operands. */
  follow<C>({ start, end }: Range, node: Node<C>): Node<C> {
    const note = (before: number, error: CelError): void => {
      for (let i = before; i < this.#found.length; i++) if (this.#found[i]!.error === error) return
      this.#found.push({ error, range: { start, end } })
    }
    const raw: RawCode<C> = (context, frame) => {
      const before = this.#found.length
      const value = node.raw(context, frame)
      if (value === undefined) note(before, node.absent)
      else if (value instanceof CelError) note(before, value)
      return value
    }
    const code: Code<C> = (context, frame) => {
      const before = this.#found.length
      const value = node.code(context, frame)
      if (value instanceof CelError) note(before, value)
      return value
    }
    return { ...node, code, raw }
  }

  /** The part that failed with the error; the last one, because an earlier failure may have been handled. */
  find(error: CelError): Range | undefined {
    return this.#found.findLast((one) => one.error === error)?.range
  }

  clear(): void {
    this.#found.length = 0
  }
}
