import type { Json, JsonObject } from '#base/json.ts'

/** Claims that hold scopes: of the RFCs (RFC 9068, 2.2.3), and of identity providers. */
const CLAIMS = ['scope', 'scp', 'permissions'] as const

/** Limits the evaluations for one refusal. */
const MAX_TRIED = 32

/**
 * The scopes that a token must have for a request that was refused: those that it has, and the fewest others with which the request is
 * allowed. Whatever the rules read, they decide themselves.
 * @param supported scopes that clients may request
 * @param allows whether the rules would allow the request with these scopes in addition
 * @returns undefined: no scope would help
 */
export function neededScopes(
  claims: JsonObject,
  supported: readonly string[],
  allows: (added: readonly string[]) => boolean,
): readonly string[] | undefined {
  const held = scopesOf(claims)
  let added = supported.filter((scope) => !held.has(scope)).slice(0, MAX_TRIED)
  if (added.length === 0 || !allows(added)) return undefined
  for (const scope of added) {
    const fewer = added.filter((other) => other !== scope)
    if (allows(fewer)) added = fewer
  }
  return supported.filter((scope) => held.has(scope) || added.includes(scope))
}

/** The claims of a token with more scopes, in every form that a rule may read. */
export function withScopes(claims: JsonObject, added: readonly string[]): JsonObject {
  return { ...claims, ...Object.fromEntries(CLAIMS.map((name) => [name, extended(name, claims[name], added)])) }
}

function extended(name: string, value: Json | undefined, added: readonly string[]): Json {
  if (Array.isArray(value)) return [...value, ...added]
  if (typeof value === 'string') return [value, ...added].join(' ')
  return name === 'scope' ? added.join(' ') : added
}

function scopesOf(claims: JsonObject): ReadonlySet<Json | undefined> {
  return new Set(
    CLAIMS.flatMap((name): Json | undefined | readonly Json[] => {
      const value = claims[name]
      return typeof value === 'string' ? value.split(' ') : value
    }),
  )
}
