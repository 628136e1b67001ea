import type { ConfigProblem } from '#base/config-problem.ts'
import type { Origin } from '#base/origin.ts'
import type { Expression, ExpressionPlace, ExpressionUse } from '#exchange/expression.ts'
import { ruleProblems } from '#exchange/rule-problems.ts'
import type { McpAuthorization } from './authorization.ts'
import type { McpPlan, McpTargetPlan } from './mcp-plan.ts'

/** A piece of configuration and who wrote it; the shape of a policy source. */
export interface McpSource<Spec> {
  readonly spec: Spec
  readonly origin: Origin
  /** `spec.mcp` */
  readonly path: string
  /** Key of what it belongs to: `ProxyBackend/<namespace>/<name>`. */
  readonly target: string
}

/** `ProxyBackend.spec.mcp` (specification 1, 2.3.4) with its targets as they resolve now. */
export interface McpBackendSpec {
  /** None when selectors find nothing. */
  readonly targets: readonly McpTargetSpec[]
  readonly sessionRouting?: 'Stateful' | 'Stateless' | undefined
  readonly failureMode?: 'FailClosed' | 'FailOpen' | undefined
}

export interface McpTargetSpec {
  readonly name: string
  readonly path?: string | undefined
  readonly protocol?: 'StreamableHTTP' | 'SSE' | undefined
  /** Why it cannot be used; reported by whoever found out. */
  readonly broken?: string | undefined
  /** The target's `auth.passthrough` is set (decision B80). */
  readonly passthrough?: boolean | undefined
}

/** The part of `backend.mcp` (specification 2, 2.3) that the protocol reads. */
export interface McpPolicySpec {
  readonly authorization?: McpRuleSpec | undefined
  readonly authentication?: object | undefined
}

export interface McpRuleSpec {
  readonly action: 'Allow' | 'Deny' | 'Require'
  readonly policy: { readonly matchExpressions: readonly string[] }
}

/** What compilation asks for; the policies' compile context has it. */
export interface McpCompileContext {
  report(source: McpSource<unknown>, path: string, problem: Omit<ConfigProblem, 'path'>): void
  expression(
    source: McpSource<unknown>,
    path: string,
    text: string,
    place: ExpressionPlace,
    use?: ExpressionUse,
  ): Expression
}

/**
 * Makes an MCP backend ready to run. What this version cannot do is reported as `not-implemented` and fails at run time with a
 * clear error; it is never left out in silence.
 *
 * @param backend its `target` is the key of the backend
 * @param policies `backend.mcp` of all levels that apply, strongest first
 */
export function compileMcp(
  backend: McpSource<McpBackendSpec>,
  policies: readonly McpSource<McpPolicySpec>[],
  context: McpCompileContext,
): McpPlan {
  const { spec } = backend
  const targets = spec.targets.map((target) => compileTarget(backend, target, context))
  return {
    backend: backend.target,
    targets,
    multiplexes: targets.length !== 1,
    sessionRouting: spec.sessionRouting ?? 'Stateful',
    failureMode: spec.failureMode ?? 'FailClosed',
    authorization: compileAuthorization(policies, context),
    refusal: findRefusal(policies, context),
  }
}

function compileTarget(
  backend: McpSource<McpBackendSpec>,
  { name, path, protocol, broken, passthrough }: McpTargetSpec,
  context: McpCompileContext,
): McpTargetPlan {
  const isLegacy = protocol === 'SSE'
  if (isLegacy) {
    context.report(backend, '.targets', {
      code: 'not-implemented',
      message: `target ${name} cannot be reached: ${LEGACY_TRANSPORT}`,
      severity: 'error',
    })
  }
  return {
    name,
    destination: `${backend.target}/${name}`,
    path: path ?? (isLegacy ? '/sse' : '/mcp'),
    takesCredentials: passthrough === true,
    unusable: broken ?? (isLegacy ? LEGACY_TRANSPORT : undefined),
  }
}

const LEGACY_TRANSPORT = 'protocol SSE is not implemented yet'

function compileAuthorization(
  policies: readonly McpSource<McpPolicySpec>[],
  context: McpCompileContext,
): McpAuthorization {
  const rules: Record<McpRuleSpec['action'], Expression[]> = { Allow: [], Deny: [], Require: [] }
  for (const source of policies) {
    const { authorization } = source.spec
    authorization?.policy.matchExpressions.forEach((text, index) => {
      const path = `.authorization.policy.matchExpressions[${index}]`
      const expression = context.expression(source, path, text, 'mcp', 'condition')
      for (const problem of ruleProblems(authorization.action, expression)) context.report(source, path, problem)
      rules[authorization.action].push(expression)
    })
  }
  const broken = Object.values(rules).some((expressions) => expressions.some((rule) => rule.broken))
  return { broken, deny: rules.Deny, require: rules.Require, allow: rules.Allow }
}

/** Authentication that cannot be carried out must not let anybody in. */
function findRefusal(policies: readonly McpSource<McpPolicySpec>[], context: McpCompileContext): string | undefined {
  const demanding = policies.filter(({ spec }) => spec.authentication !== undefined)
  for (const source of demanding) {
    context.report(source, '.authentication', {
      code: 'not-implemented',
      message: 'backend.mcp.authentication is not implemented yet; every request to this backend is refused',
      severity: 'error',
    })
  }
  return demanding.length === 0 ? undefined : 'backend.mcp.authentication is not implemented yet'
}
