import type { Expression, ExpressionEnvironment, ExpressionUse } from '#exchange/expression.ts'
import { reject } from '#exchange/outcome.ts'
import type { Step } from '#exchange/step.ts'
import { isFieldName } from '#net/http/field-syntax.ts'
import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { readsRequestBody } from '../body-use.ts'
import { isServerField } from '../fields/server-fields.ts'
import { authorize, type ExtAuth } from './authorize.ts'

/** A compiled policy. */
export type ExtAuthRun = PolicyRun & { readonly request: Step }

/** External authorization as an object configures it, while it is compiled. */
export class Site {
  readonly source: PolicySource<unknown>
  readonly context: CompileContext
  /** Of the settings in the source. */
  readonly #path: string
  readonly #expressions: Expression[] = []
  /** Names of headers of requests that it sends or sets. */
  readonly #fields: string[] = []
  /** A header name or an expression that cannot work. */
  #invalid: string | undefined

  constructor(source: PolicySource<unknown>, path: string, context: CompileContext) {
    this.source = source
    this.context = context
    this.#path = path
  }

  pathOf(path: string): string {
    return `${this.#path}${path}`
  }

  /** One that does not compile refuses all requests: the server would be asked about less, or its answer would mean less. */
  expression(path: string, text: string, environment: ExpressionEnvironment = 'request'): Expression {
    const expression = this.optionalExpression(path, text, environment)
    if (expression.broken) this.#invalid ??= `${this.pathOf(path)}: the expression does not compile`
    return expression
  }

  /** One without which the server is only asked more often. */
  optionalExpression(
    path: string,
    text: string,
    environment: ExpressionEnvironment = 'request',
    use: ExpressionUse = 'value',
  ): Expression {
    const expression = this.context.expression(this.source, this.pathOf(path), text, environment, use)
    this.#expressions.push(expression)
    return expression
  }

  expressions(
    path: string,
    written: Readonly<Record<string, string>>,
    environment?: ExpressionEnvironment,
  ): (readonly [name: string, value: Expression])[] {
    return Object.entries(written).map(([name, text]) => [name, this.expression(`${path}[${name}]`, text, environment)])
  }

  /** The server sees parts of the request that no expression names. */
  reads(path: string, what: Parameters<CompileContext['reads']>[2]): void {
    this.context.reads(this.source, this.pathOf(path), what)
  }

  /** The names of headers that the server sees or sets. @param always names that need no check, in lower case */
  headers(path: string, names: readonly string[], always: readonly string[] = []): string[] {
    const headers = names.flatMap((name, index) => {
      const lowerName = name.toLowerCase()
      return always.includes(lowerName) ? [lowerName] : this.header(`${path}[${index}]`, name)
    })
    this.#fields.push(...headers)
    return headers
  }

  /** A header name in lower case; none if it has no effect. A misspelt name refuses all requests: it may protect a header. */
  header(path: string, name: string): [lowerName: string] | [] {
    const lowerName = name.toLowerCase()
    if (isServerField(lowerName)) return [lowerName]
    const where = this.pathOf(path)
    const shown = JSON.stringify(name)
    if (isFieldName(name)) {
      const message = `has no effect: authorization servers neither see nor set ${shown}`
      this.context.report(this.source, where, { severity: 'warning', code: 'no-effect', message })
    } else {
      this.#invalid ??= `${where}: ${shown} is not a valid header name`
      const message = `${shown} is not a valid header name; requests are refused`
      this.context.report(this.source, where, { severity: 'error', code: 'header-invalid', message })
    }
    return []
  }

  run(extAuth: ExtAuth): ExtAuthRun {
    return {
      request: this.#invalid === undefined ? authorize(extAuth) : refuseInvalid(this.#invalid),
      readsRequestBody: readsRequestBody(this.#expressions),
      fields: { request: this.#fields },
    }
  }
}

function refuseInvalid(detail: string): Step {
  const refusal = reject('ext-auth-denied', { detail })
  return () => refusal
}
