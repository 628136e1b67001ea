import { type Budget, CelError, Optional, type Result, type Value, WHOLE_BUDGET } from '#cel/index.ts'
import { duplicateField, forbiddenField, invalidField, requiredField } from '../kinds/field-errors.ts'
import type { Cause } from '../kinds/served-kind.ts'
import { canonicalText } from './canonical-text.ts'
import { keyOf } from './check-lists.ts'
import type { CompiledRule, RuleContext, RuleNode } from './compile-rules.ts'
import { isJsonObject, pathOfMember } from './json-schema.ts'
import { valueOfSchema } from './value-of-schema.ts'

/** A value and the one that it replaces; `before` is undefined if there is none that belongs to it. */
interface Checked {
  readonly value: unknown
  readonly before: unknown
  readonly path: string
}

/** Evaluates the rules of a schema on a valid value. All rules share one budget. @param before the stored object, on an update */
export function checkRules(root: RuleNode, value: unknown, before: unknown): readonly Cause[] {
  const causes: Cause[] = []
  checkNode(root, { value, before, path: '' }, { left: WHOLE_BUDGET }, causes)
  return causes
}

function checkNode(node: RuleNode, { value, before, path }: Checked, budget: Budget, causes: Cause[]): void {
  // Whether a value may be null is for the rules around it.
  if (value === null || value === undefined) return
  if (node.rules.length > 0) {
    const oldSelf = before === undefined || before === null ? undefined : valueOfSchema(before, node.schema)
    const context = { self: valueOfSchema(value, node.schema), oldSelf, budget }
    for (const rule of node.rules) checkRule(rule, node, value, context, path, causes)
  }
  if (Array.isArray(value)) checkItems(node, value, before, path, budget, causes)
  else if (isJsonObject(value)) {
    const earlier = isJsonObject(before) ? before : {}
    for (const [name, member] of Object.entries(value)) {
      const child = node.properties.get(name) ?? node.additional
      if (child === undefined) continue
      const inside = pathOfMember(node.schema, path, name)
      const old = Object.hasOwn(earlier, name) ? earlier[name] : undefined
      checkNode(child, { value: member, before: old, path: inside }, budget, causes)
    }
  }
}

/** Items of lists with keys belong to the earlier items with the same keys; other items belong to none. */
function checkItems(
  { schema, items }: RuleNode,
  list: readonly unknown[],
  before: unknown,
  path: string,
  budget: Budget,
  causes: Cause[],
): void {
  if (items === undefined) return
  const keys = schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : undefined
  const keyText = (item: unknown) => (keys && isJsonObject(item) ? canonicalText(keyOf(item, keys)) : undefined)
  const earlier = keys && Array.isArray(before) ? new Map(before.map((item) => [keyText(item), item])) : undefined
  list.forEach((item, index) => {
    checkNode(items, { value: item, before: earlier?.get(keyText(item)), path: `${path}[${index}]` }, budget, causes)
  })
}

function checkRule(
  { rule, program, message, readsOldSelf }: CompiledRule,
  { schema }: RuleNode,
  value: unknown,
  context: RuleContext,
  path: string,
  causes: Cause[],
): void {
  const isOptional = rule.optionalOldSelf === true
  if (readsOldSelf && context.oldSelf === undefined && !isOptional) return
  const within = isOptional ? { ...context, oldSelf: optionalOf(context.oldSelf) } : context
  const result = program.evaluateBoolean(within)
  if (result === true) return
  const text = (rule.message || rule.rule).trim()
  if (result instanceof CelError) {
    const limit = result.code === 'limit' ? ': no further validation rules will be run' : ''
    causes.push(invalidField(path, schema.type, `${result.message}${limit} evaluating rule: ${text}`))
    return
  }
  const field = `${path}${fieldPathOf(rule)}`.replace(/^\./, '')
  const detail = messageOf(message?.evaluate(within)) ?? (rule.message?.trim() || `failed rule: ${rule.rule.trim()}`)
  causes.push(refusal(rule.reason, field, isJsonObject(value) || Array.isArray(value) ? undefined : value, detail))
}

function optionalOf(value: Result | undefined): Result {
  if (value instanceof CelError) return value
  return value === undefined ? Optional.none : new Optional(value as Value)
}

/** `.a.b['c']` as API servers write it in paths: `.a.b[c]`. */
function fieldPathOf({ fieldPath = '' }: { readonly fieldPath?: string }): string {
  return fieldPath.replace(/\['((?:[^'\\]|\\.)*)'\]/g, (_, key: string) => `[${key.replace(/\\(.)/g, '$1')}]`)
}

/** A message must be one line that is not empty. */
function messageOf(result: Result | undefined): string | undefined {
  if (typeof result !== 'string') return undefined
  const text = result.trim()
  return text === '' || /[\r\n]/.test(text) ? undefined : text
}

function refusal(reason: string | undefined, field: string, value: unknown, detail: string): Cause {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbiddenField(field, detail)
    case 'FieldValueRequired':
      return requiredField(field, detail)
    case 'FieldValueDuplicate':
      return duplicateField(field, value)
    default:
      return invalidField(field, value, detail)
  }
}
