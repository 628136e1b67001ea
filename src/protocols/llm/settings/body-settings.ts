import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import { editMembers } from '../json/edit-members.ts'
import { findField, type Members } from '../json/scan-members.ts'
import type { BackendAiSpec, FieldValueSpec } from './policy-schema.ts'

/** `defaults`, `overrides` and `transformations`, prepared. Values are JSON text. */
export interface BodySettings {
  readonly defaults: readonly (readonly [field: string, json: string])[]
  readonly overrides: readonly (readonly [field: string, json: string])[]
  readonly transformations: readonly (readonly [field: string, expression: Expression])[]
}

/** @returns undefined if the settings do not change bodies */
export function compileBodySettings(
  spec: BackendAiSpec,
  compile: (path: string, text: string) => Expression,
): BodySettings | undefined {
  const { defaults = [], overrides = [], transformations = [] } = spec
  if (defaults.length + overrides.length + transformations.length === 0) return undefined
  return {
    defaults: defaults.map(toJson),
    overrides: overrides.map(toJson),
    transformations: transformations.map(({ field, expression }, index) => [
      field,
      compile(`.transformations[${index}].expression`, expression),
    ]),
  }
}

export interface ChangedBody {
  readonly body: Uint8Array
  /** Fields that were set, and whose expressions failed. */
  readonly removed: readonly string[]
}

/** Members that the settings set. */
export function configuredFields({ defaults = [], overrides = [], transformations = [] }: BackendAiSpec): string[] {
  return [...defaults, ...overrides, ...transformations].map(({ field }) => field)
}

function toJson({ field, value }: FieldValueSpec): readonly [string, string] {
  return [field, JSON.stringify(value)]
}

/**
 * Applies `defaults` < client < `overrides` < `transformations` to a body (decisions B18, B102). Fields are literal top-level keys.
 * Expressions see the body that the client sent. An expression that fails removes its field, which a default may then set: if a limit
 * cannot be computed, the value of the client must not pass. A member with value null counts as set.
 */
export function applyBodySettings(settings: BodySettings, members: Members, exchange: Exchange): ChangedBody {
  const removed: string[] = []
  const edits = new Map<string, string | undefined>()
  for (const [field, json] of settings.overrides) edits.set(field, json)
  for (const [field, expression] of settings.transformations) {
    const result = expression.json(exchange)
    if (result === undefined && (edits.has(field) || findField(members, field) >= 0)) removed.push(field)
    edits.set(field, result === undefined ? undefined : JSON.stringify(result))
  }
  for (const [field, json] of settings.defaults) {
    const isSet = edits.has(field) ? edits.get(field) !== undefined : findField(members, field) >= 0
    if (!isSet) edits.set(field, json)
  }
  return { body: editMembers(members, edits), removed }
}
