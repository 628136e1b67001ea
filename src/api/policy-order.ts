import type { POLICIES } from './policy-fields.ts'

/**
 * The order in which policies process a request (docs/behaviour/http.md, "Order"). It is data: one line per field, with its reason. The
 * compiler proves that every field has a position.
 */

/** Before the route is selected; only these fields can act then (decision A-25). */
export const PRE_ROUTING = [
  'cors', // answers preflights, which carry no credentials
  'jwtAuthentication', // establishes who calls ...
  'basicAuthentication', // ... likewise
  'apiKeyAuthentication', // ... likewise
  'extAuth', // may use the identity, may set headers that choose the route
  'authorization', // reads identity and what the authorizer said
  'extProc', // sees only admitted requests
  'transformation', // last: what it writes decides the route
] as const

/** After the route is selected. */
export const POST_ROUTING = [
  'refusedPolicy', // nothing else may answer for a target whose protection is unknown
  'timeouts', // only noted here; the clock starts with the first backend attempt
  'cors', // answers preflights, and queues headers that later refusals must carry
  'jwtAuthentication', // establishes who calls ...
  'basicAuthentication', // ... likewise
  'apiKeyAuthentication', // ... likewise
  'extAuth', // may use the identity
  'authorization', // reads identity and what the authorizer said
  'retry', // only noted here
  'rateLimit', // only admitted requests consume quota
  'sessionPersistence', // only noted here; the backend and its endpoint are chosen after all policies
  'requestMirror', // only decides which backends get a copy; copies are sent with the request
  'extProc', // may rewrite anything below
  'transformation', // sees claims and limits, changes what the backend sees
  'csrf', // judges the request as received, after authentication (decision A-85)
  'headerModifiers', // plain edits come after computed ones
  'hostRewrite', // only noted here; the backend decides the host
  'urlRewrite', // an explicit host or path beats the automatic one
  'requestRedirect', // answers; everything above still had its say
  'directResponse', // answers, last
] as const

/** For every attempt, after the endpoint is selected. */
export const BACKEND = [
  'extAuth', // may still refuse before credentials are added
  'auth', // adds the gateway's credentials
  'transformation', // sees what policies made of the request
  'headerModifiers', // plain edits come after computed ones, as in a rule
  'urlRewrite', // an explicit host or path beats the automatic one
  'requestRedirect', // answers, last
] as const

/**
 * Order of response policies. Chains run in the order post-routing, backend, pre-routing; within a chain in this order. `extProc` is not one of
 * them: it processes the responses of backends with their bodies, after all of these.
 */
export const RESPONSE = [
  'headerModifiers',
  'transformation',
  'cors',
  'rateLimit',
  'extAuth',
  'sessionPersistence',
] as const

/** The fields of a section that process requests. */
export type Acting<Section> = {
  [F in keyof Section]: Section[F] extends { readonly kind: 'steps' } ? F : never
}[keyof Section]

/** The fields of a section that process responses, too. */
export type Answering<Section> = {
  [F in Acting<Section>]: Section[F] extends { compile(...args: never): infer Run }
    ? 'response' extends keyof NonNullable<Run>
      ? F
      : never
    : never
}[Acting<Section>]

/** Does not compile if a field has no position. */
export type Complete<Missing extends never> = Missing

export type OrderIsComplete = [
  Complete<Acting<typeof POLICIES.frontend>>,
  Complete<Exclude<Acting<typeof POLICIES.traffic>, (typeof POST_ROUTING)[number]>>,
  Complete<Exclude<Acting<typeof POLICIES.backend>, (typeof BACKEND)[number]>>,
  Complete<Exclude<(typeof PRE_ROUTING)[number], (typeof POST_ROUTING)[number]>>,
  Complete<Exclude<(typeof POST_ROUTING)[number], keyof typeof POLICIES.traffic>>,
  Complete<Exclude<(typeof BACKEND)[number], keyof typeof POLICIES.backend>>,
  Complete<Exclude<Answering<typeof POLICIES.traffic> | Answering<typeof POLICIES.backend>, (typeof RESPONSE)[number]>>,
  Complete<Exclude<(typeof RESPONSE)[number], (typeof POST_ROUTING)[number] | (typeof BACKEND)[number]>>,
]
