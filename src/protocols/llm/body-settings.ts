import type { Exchange } from '#exchange/exchange.ts'
import type { Expression } from '#exchange/expression.ts'
import { editMembers } from './json/edit-members.ts'
import { findField, type Members } from './json/scan-members.ts'
import type { BackendAiSpec, FieldValueSpec } from './policy-schema.ts'

/** `defaults`, `overrides` and `transformations`, ready to run. Values are JSON text. */
export interface BodySettings {
  readonly defaults: readonly (readonly [field: string, json: string])[]
  readonly overrides: readonly (readonly [field: string, json: string])[]
  readonly transformations: readonly (readonly [field: string, expression: Expression])[]
}

/** @returns undefined when the settings leave bodies alone */
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

/** Members that the settings set. */
export function configuredFields({ defaults = [], overrides = [], transformations = [] }: BackendAiSpec): string[] {
  return [...defaults, ...overrides, ...transformations].map(({ field }) => field)
}

function toJson({ field, value }: FieldValueSpec): readonly [string, string] {
  return [field, JSON.stringify(value)]
}

/**
 * The body after `defaults` < client < `overrides` < `transformations` (decisions B18, B102). Fields are top-level keys, taken
 * literally. Expressions see the body as the client sent it; one that fails removes its field, which a default may then fill: a
 * limit that cannot be computed must not let the client's own value through. A member that is present with null counts as set.
 */
export function applyBodySettings(settings: BodySettings, members: Members, exchange: Exchange): Uint8Array {
  const edits = new Map<string, string | undefined>()
  for (const [field, json] of settings.overrides) edits.set(field, json)
  for (const [field, expression] of settings.transformations) {
    const result = expression.json(exchange)
    edits.set(field, result === undefined ? undefined : JSON.stringify(result))
  }
  for (const [field, json] of settings.defaults) {
    const isSet = edits.has(field) ? edits.get(field) !== undefined : findField(members, field) >= 0
    if (!isSet) edits.set(field, json)
  }
  return editMembers(members, edits)
}
