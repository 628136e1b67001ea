import {
  type Budget,
  type Compiled,
  compile,
  createEnvironment,
  type Program,
  type Result,
  type Type,
} from '#cel/index.ts'
import { FORMAT_FUNCTIONS } from './format-functions.ts'
import type { JsonSchema, ValidationRule } from './json-schema.ts'
import { KUBERNETES_FUNCTIONS } from './kubernetes-functions.ts'
import { embedded, typeOfSchema, withIdentity } from './type-of-schema.ts'

/** What a rule reads. */
export interface RuleContext {
  readonly self: Result
  /** Undefined: there is no earlier value. */
  readonly oldSelf: Result | undefined
  /** One for all rules of a write. */
  readonly budget: Budget
}

export interface CompiledRule {
  readonly rule: ValidationRule
  readonly program: Program<RuleContext>
  readonly message: Program<RuleContext> | undefined
  /** The rule is about changes. */
  readonly readsOldSelf: boolean
}

/** The rules of a schema and of the schemas inside it; only those with rules. */
export interface RuleNode {
  readonly schema: JsonSchema
  readonly rules: readonly CompiledRule[]
  readonly properties: ReadonlyMap<string, RuleNode>
  readonly additional: RuleNode | undefined
  readonly items: RuleNode | undefined
}

/** Why an expression cannot be used. */
export interface RuleProblem {
  /** Relative to the schema: `.properties[spec].x-kubernetes-validations[0].rule`. */
  readonly path: string
  readonly expression: string
  readonly message: string
}

export interface CompiledRules {
  readonly root: RuleNode | undefined
  readonly problems: readonly RuleProblem[]
}

/** Compiles the rules of the schema of a kind (Kubernetes, `x-kubernetes-validations`). */
export function compileRules(schema: JsonSchema): CompiledRules {
  const problems: RuleProblem[] = []
  const root = compileNode(withIdentity(schema), '', problems, undefined)
  return { root, problems }
}

/** The rules of one schema inside that of a kind, which is known to have no problems. */
export function compileRulesInside(schema: JsonSchema): RuleNode | undefined {
  return compileNode(embedded(schema), '', [], undefined)
}

/** @param unrelated the path of a list around the schema whose items do not belong to earlier items */
function compileNode(
  schema: JsonSchema,
  path: string,
  problems: RuleProblem[],
  unrelated: string | undefined,
): RuleNode | undefined {
  const inside = (child: JsonSchema, at: string, within = unrelated) =>
    compileNode(embedded(child), `${path}${at}`, problems, within)
  const properties = new Map(
    Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
      const node = inside(property, `.properties[${name}]`)
      return node === undefined ? [] : [[name, node]]
    }),
  )
  const { additionalProperties, items } = schema
  const additional =
    typeof additionalProperties === 'object' ? inside(additionalProperties, '.additionalProperties') : undefined
  const ofItems = items && inside(items, '.items', isRelated(schema) ? unrelated : (unrelated ?? path))
  const rules = compileOwn(schema, path, problems, unrelated)
  const isEmpty = rules.length === 0 && properties.size === 0 && additional === undefined && ofItems === undefined
  return isEmpty ? undefined : { schema, rules, properties, additional, items: ofItems }
}

/** Whether items of a list are found again in another state of the object. */
function isRelated({ 'x-kubernetes-list-type': listType }: JsonSchema): boolean {
  return listType === 'map'
}

function compileOwn(
  schema: JsonSchema,
  path: string,
  problems: RuleProblem[],
  unrelated: string | undefined,
): readonly CompiledRule[] {
  const { 'x-kubernetes-validations': rules = [] } = schema
  if (rules.length === 0) return []
  const type = typeOfSchema(schema, 'self')
  return rules.flatMap((rule, index) => {
    const at = `${path}.x-kubernetes-validations[${index}]`
    const report = (member: string, expression: string, message: string) =>
      problems.push({ path: `${at}.${member}`, expression, message })
    if (type === undefined) {
      report('rule', rule.rule, 'the schema has no type that rules can read')
      return []
    }
    const compiled = compileWith(rule.rule, type, rule, 'bool')
    const message =
      rule.messageExpression === undefined ? undefined : compileWith(rule.messageExpression, type, rule, 'string')
    if (compiled.program === undefined) report('rule', rule.rule, firstError(compiled))
    if (message !== undefined && message.program === undefined)
      report('messageExpression', rule.messageExpression!, firstError(message))
    if (compiled.program === undefined) return []
    const readsOldSelf = compiled.program.references.has('oldSelf')
    if (readsOldSelf && unrelated !== undefined)
      report(
        'rule',
        rule.rule,
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${unrelated}`,
      )
    return [{ rule, program: compiled.program, message: message?.program, readsOldSelf }]
  })
}

function compileWith(
  source: string,
  self: Type,
  rule: ValidationRule,
  expect: 'bool' | 'string',
): Compiled<RuleContext> {
  const oldSelf: Type = rule.optionalOldSelf === true ? { kind: 'opaque', name: 'optional_type', params: [self] } : self
  const environment = createEnvironment<RuleContext>({
    variables: [
      { path: 'self', type: self, always: true, read: (context) => context.self },
      { path: 'oldSelf', type: oldSelf, read: (context) => context.oldSelf },
    ],
    functions: [...KUBERNETES_FUNCTIONS, ...FORMAT_FUNCTIONS],
    budgetOf: (context) => context.budget,
  })
  return compile(source, environment, { expect })
}

function firstError({ problems }: Compiled<RuleContext>): string {
  const found = problems.find(({ severity }) => severity === 'error')!
  return `compilation failed: ERROR: <input>:${found.line}:${found.column}: ${found.message}`
}
