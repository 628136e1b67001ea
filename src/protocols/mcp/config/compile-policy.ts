import { foldCase } from '#base/fold-case.ts'
import type { ObjectShape } from '#base/json-ambiguity.ts'
import type { Expression } from '#exchange/expression.ts'
import { ruleProblems } from '#exchange/rule-problems.ts'
import type { CompileContext, PolicySource } from '#policies/policy.ts'
import type { McpAuthorization } from './authorization.ts'
import { compileAuthentication, type McpAuthentication } from './compile-authentication.ts'
import { findHidingRules, type McpRule } from './hidden-kinds.ts'
import { findMisnamed } from './misnamed-items.ts'
import type { BackendMcpSpec } from './policy-schema.ts'

/** `backend.mcp` of all levels combined and prepared. */
export interface McpSettings {
  readonly authorization: McpAuthorization
  /** Undefined: policies of other sections identify clients, or none does. */
  readonly authentication: McpAuthentication | undefined
}

/**
 * @param sources of every level that applies, in order of precedence
 * @param targets of the backend
 */
export function compileMcpPolicy(
  sources: readonly PolicySource<BackendMcpSpec>[],
  context: CompileContext,
  targets: readonly string[] = [],
): McpSettings {
  const source = sources.find(({ spec }) => spec.authentication !== undefined)
  return {
    authorization: compileAuthorization(sources, context, targets),
    authentication: source && compileAuthentication(source, source.spec.authentication!, context),
  }
}

function compileAuthorization(
  policies: readonly PolicySource<BackendMcpSpec>[],
  context: CompileContext,
  targets: readonly string[],
): McpAuthorization {
  const rules: Rule[] = []
  for (const source of policies) {
    const { authorization } = source.spec
    authorization?.policy.matchExpressions.forEach((text, index) => {
      const path = `.authorization.policy.matchExpressions[${index}]`
      const expression = context.expression(source, path, text, 'mcp', 'condition')
      const { action } = authorization
      for (const problem of ruleProblems(action, expression)) {
        if (problem.code !== 'deny-can-fail' || !readsChosen(expression)) context.report(source, path, problem)
      }
      rules.push({ action, expression, source, path })
    })
  }
  for (const { rule, problem } of findHidingRules(rules)) context.report(rule.source, rule.path, problem)
  for (const { expression, source, path } of rules) {
    const misnamed = findMisnamed(expression, targets)
    if (misnamed !== undefined) context.report(source, path, misnamed)
  }
  const ofAction = (wanted: McpRule['action']) =>
    rules.filter(({ action }) => action === wanted).map(({ expression }) => expression)
  const broken = rules.some(({ expression }) => expression.broken)
  const deny = ofAction('Deny')
  const denyFailed = new Set(deny.filter(readsChosen))
  const expressions = rules.map(({ expression }) => expression)
  const ruling = policies.filter(({ spec }) => spec.authorization !== undefined)
  return {
    broken,
    decidedBy: {
      stage: 'backend',
      field: 'mcp.authorization',
      sources: ruling.map(({ origin, path }) => ({ origin, path: `${path}.authorization` })),
    },
    deny,
    require: ofAction('Require'),
    allow: ofAction('Allow'),
    denyFailed,
    argumentShape: shapeOfArguments(expressions),
    readsAnnotations: expressions.some(readsAnnotations),
  }
}

/** The client or the target chooses the value, and so whether an evaluation fails. */
function readsChosen(expression: Expression): boolean {
  return readsArguments(expression) || readsAnnotations(expression)
}

function readsArguments(expression: Expression): boolean {
  return expression.readsPath('mcp.tool.arguments')
}

function readsAnnotations(expression: Expression): boolean {
  return expression.readsPath('mcp.tool.annotations')
}

/** At any depth, no member may occur twice, or differ only in case from a name in a rule. Undefined: no rule reads arguments. */
function shapeOfArguments(expressions: readonly Expression[]): ObjectShape | undefined {
  const reading = expressions.filter(readsArguments)
  if (reading.length === 0) return undefined
  const names = new Set(reading.flatMap((expression) => [...expression.writtenNames()]))
  const shapes: ObjectShape[] = []
  const nested: ObjectShape = {
    names: [...names],
    shapes,
    folded: new Set([...names].map(foldCase)),
    get others() {
      return nested
    },
  }
  for (const _ of names) shapes.push(nested)
  return nested
}

interface Rule extends McpRule {
  readonly source: PolicySource<BackendMcpSpec>
  readonly path: string
}
