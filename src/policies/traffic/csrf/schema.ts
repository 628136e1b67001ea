import { described, formattedText, list, object, optional, type Parsed, type ScalarRefusal } from '#schema/index.ts'

const ORIGIN =
  /^[hH][tT][tT][pP][sS]?:\/\/(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*\.?|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?$/

/** An entry that could never equal an Origin header would be a silent failure. */
function checkOrigin(value: string): ScalarRefusal | undefined {
  const match = ORIGIN.exec(value)
  const port = Number(match?.[1] ?? 1)
  if (match !== null && port >= 1 && port <= 65_535) return undefined
  const message = 'must be <scheme>://<host>(:<port>) with scheme http or https, without a path, wildcard or user name'
  return { code: 'invalid-origin', message }
}

/** `traffic.csrf` (specification 2, 2.2.4). */
export const trafficCsrf = described(
  'Protection against cross-site request forgery (CSRF).',
  object({
    additionalOrigins: optional(
      list(formattedText({ min: 1, max: 256, pattern: ORIGIN }, checkOrigin), { min: 1, max: 16 }),
      'Origins allowed in addition to the origin of the destination, as <scheme>://<host>(:<port>).',
    ),
  }),
)

export type CsrfSpec = Parsed<typeof trafficCsrf>
