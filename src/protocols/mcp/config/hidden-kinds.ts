import type { ConfigProblem } from '#base/config-problem.ts'
import type { Expression } from '#exchange/expression.ts'
import type { AuthorizationSpec } from '#policies/shared/authorization/authorization.ts'
import { ITEM_KINDS, type ItemKind } from './authorization.ts'

/** A rule of `backend.mcp.authorization`. */
export interface McpRule {
  readonly action: AuthorizationSpec['action']
  readonly expression: Expression
}

export interface HidingRule<Rule> {
  readonly rule: Rule
  readonly problem: Omit<ConfigProblem, 'path'>
}

/**
 * The Allow and Require rules that hide items of whole kinds only because their evaluation fails for them: `mcp.tool.name != "x"` fails for
 * prompts, resources and tasks. Rules that are false instead (`has(mcp.tool.name) && ...`) hide them on purpose, and so do Allow rules
 * for several kinds.
 */
export function findHidingRules<Rule extends McpRule>(rules: readonly Rule[]): readonly HidingRule<Rule>[] {
  const judged = rules.map((rule) => ({ rule, ...judge(rule.expression) }))
  const allow = judged.filter(({ rule }) => rule.action === 'Allow')
  const allowed = ITEM_KINDS.filter((kind) => allow.some(({ matched }) => matched.includes(kind)))
  const isIntended = (kind: ItemKind) =>
    judged.some((one) => one.rule.action === 'Deny' && one.always.includes(kind)) ||
    judged.some((one) => one.rule.action === 'Require' && one.never.includes(kind)) ||
    (!allowed.includes(kind) && allow.some(({ never }) => never.includes(kind)))
  const hiding: HidingRule<Rule>[] = []
  for (const { rule, failing } of judged) {
    if (rule.action === 'Deny' || (rule.action === 'Allow' && allowed.length > 1)) continue
    const hidden = failing.filter((kind) => !isIntended(kind))
    // Of several Allow rules, the first one is reported for all.
    if (hidden.length === 0 || (rule.action === 'Allow' && hiding.some((one) => one.rule.action === 'Allow'))) continue
    hiding.push({ rule, problem: problemOf(rule, hidden, rule.action === 'Allow' && allow.length > 1) })
  }
  return hiding
}

interface Judgement {
  /** Kinds of items for which it can be true. */
  readonly matched: readonly ItemKind[]
  /** Kinds of items for which it is not true, and can fail. */
  readonly failing: readonly ItemKind[]
  /** Kinds of items for which it is always true. */
  readonly always: readonly ItemKind[]
  /** Kinds of items for which it is always false. */
  readonly never: readonly ItemKind[]
}

function judge(expression: Expression): Judgement {
  const results = ITEM_KINDS.map((kind) => ({ kind, ...expression.possibleResults((path) => presence(path, kind)) }))
  const kinds = (wanted: (of: (typeof results)[number]) => boolean) => results.filter(wanted).map(({ kind }) => kind)
  return {
    matched: kinds((of) => of.true),
    failing: kinds((of) => !of.true && of.absent),
    always: kinds((of) => of.true && !of.false && !of.absent),
    never: kinds((of) => of.false && !of.true && !of.absent),
  }
}

/** The members of an item are all present, and those of other kinds all absent. */
function presence(path: string, kind: ItemKind): boolean | undefined {
  const other = ITEM_KINDS.find((each) => path.startsWith(`mcp.${each}.`))
  return other === undefined ? undefined : other === kind
}

function problemOf(
  { action, expression }: McpRule,
  hidden: readonly ItemKind[],
  isOneOfSeveral: boolean,
): Omit<ConfigProblem, 'path'> {
  const read = ITEM_KINDS.filter((kind) => membersRead(expression, kind).length > 0)
  const rules = isOneOfSeveral ? `these ${action} rules hide` : `this ${action} rule hides`
  const kinds = listOf(read.map((kind) => `mcp.${kind}`))
  const why = isOneOfSeveral ? `this one reads ${kinds}` : `it reads ${kinds}`
  return {
    code: 'rule-hides-kind',
    severity: 'advice',
    message: `${rules} all ${listOf(hidden.map((kind) => `${kind}s`))}: ${why}, which other items do not have, so it fails for them; ${insteadOf(expression, read, isOneOfSeveral)}`,
  }
}

function insteadOf(expression: Expression, read: readonly ItemKind[], isOneOfSeveral: boolean): string {
  const { source } = expression
  const [kind] = read
  const member = kind === undefined ? undefined : membersRead(expression, kind)[0]
  if (read.length > 1 || member === undefined) return 'guard each of them with has()'
  const rule = /\|\||&&|\?/.test(source) ? `(${source})` : source
  const instead = isOneOfSeveral ? `add the rule !has(${member})` : `write ${rule} || !has(${member})`
  return `${instead} to restrict only ${kind}s, or ${isOneOfSeveral ? 'write ' : ''}has(${member}) && ${rule} to hide the rest`
}

function membersRead({ references }: Pick<Expression, 'references'>, kind: ItemKind): string[] {
  return [...references].filter((path) => path.startsWith(`mcp.${kind}.`))
}

function listOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
