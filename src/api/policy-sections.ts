import type { TOptional } from 'typebox'
import {
  type ConfigProblem,
  enumOf,
  fieldPath,
  notEmpty,
  object,
  optional,
  type Parsed,
  problem,
  type TSchema,
  withMeanings,
  withRule,
} from '#schema/index.ts'
import { BACKEND, TRAFFIC } from './meanings.ts'
import { POLICIES } from './policy-fields.ts'
import { PRE_ROUTING } from './policy-order.ts'

type Definitions = Readonly<Record<string, { readonly schema?: TSchema }>>
type WithSchema<D> = { [F in keyof D as D[F] extends { readonly schema: TSchema } ? F : never]: D[F] }
type Fields<D> = {
  [F in keyof WithSchema<D>]: WithSchema<D>[F] extends { readonly schema: infer S extends TSchema }
    ? TOptional<S>
    : never
}

/** The fields of a section, from the definitions of the policies. */
function fieldsOf<const D extends Definitions>(definitions: D): Fields<D> {
  const fields = Object.entries(definitions).flatMap(([field, { schema }]) =>
    schema === undefined ? [] : [[field, optional(schema)]],
  )
  return Object.fromEntries(fields) as Fields<D>
}

const frontendFields = fieldsOf(POLICIES.frontend)
const trafficFields = fieldsOf(POLICIES.traffic)
const backendFullFields = fieldsOf(POLICIES.backend)

/** `spec.frontend` (specification 2, 2.1). */
export const frontend = notEmpty(object(frontendFields))

function checkPreRoutingFields(
  section: { readonly phase?: 'PreRouting' | 'PostRouting' },
  path: string,
): readonly ConfigProblem[] {
  if (section.phase !== 'PreRouting') return []
  const allowed: readonly string[] = ['phase', ...PRE_ROUTING]
  const message = `phase PreRouting supports only ${PRE_ROUTING.join(', ')}; move this field to a policy without phase PreRouting`
  return Object.keys(section)
    .filter((field) => !allowed.includes(field))
    .map((field) => problem(fieldPath(path, field), 'phase-not-allowed', message))
}

/** `spec.traffic` (specification 2, 2.2). */
export const traffic = withRule(
  withMeanings(
    TRAFFIC,
    object({
      phase: optional(
        enumOf('PreRouting', 'PostRouting'),
        'When the section runs. PreRouting: before a route is selected. PostRouting (the default): after.',
      ),
      ...trafficFields,
    }),
  ),
  {
    reads: ['phase'],
    description: 'Phase PreRouting supports only fields that do not need a route.',
    check: checkPreRoutingFields,
    onServer: `!has(self.phase) || self.phase != 'PreRouting' || ${Object.keys(trafficFields)
      .filter((field) => !(PRE_ROUTING as readonly string[]).includes(field))
      .map((field) => `!has(self.${field})`)
      .join(' && ')}`,
  },
)

/** `spec.backend` and `ProxyBackend.spec.policies` (specification 2, 2.3, `BackendFull`). */
export const backendFull = notEmpty(withMeanings(BACKEND, object(backendFullFields)))

function namesOf<Fields extends object>(fields: Fields): readonly (keyof Fields & string)[] {
  return Object.freeze(Object.keys(fields)) as readonly (keyof Fields & string)[]
}

/** The fields of each section that merge, in the order of the specification. */
export const FRONTEND_FIELDS = namesOf(frontendFields)
export const TRAFFIC_FIELDS = namesOf(trafficFields)
export const BACKEND_FIELDS = namesOf(backendFullFields)

export type FrontendField = (typeof FRONTEND_FIELDS)[number]
export type TrafficField = (typeof TRAFFIC_FIELDS)[number]
export type BackendField = (typeof BACKEND_FIELDS)[number]

export type FrontendSpec = Parsed<typeof frontend>
export type TrafficSpec = Parsed<typeof traffic>
export type BackendPolicySpec = Parsed<typeof backendFull>
