import { parseJson } from '#base/parse-json.ts'
import { certificatesIn, type TlsMaterialCheck } from '#base/tls-material.ts'

/** Something in a Secret or ConfigMap that is valid only for a time. */
export interface MaterialEnd {
  readonly kind: 'certificate' | 'token'
  /** Name of the entry. */
  readonly entry: string
  /** Its number, if the entry has several. */
  readonly number: number | undefined
  /** Milliseconds since the epoch. */
  readonly fromMs: number
  readonly untilMs: number
}

/** A certificate, with the others of its chain. */
const CHAIN = 'tls.crt'
/** Authorities: while one is valid, others may have ended. */
const AUTHORITIES = ['ca.crt', 'ca.cert', 'root-cert.pem']
const TOKEN = /^(?:Bearer )?[\w-]+\.([\w-]+)\.[\w-]+$/

/**
 * What ends first in each entry. This is the only place that knows such dates: findings, metrics and Events are about them.
 * @param data texts by name of the entry
 * @param isPast whether a time in milliseconds since the epoch has passed
 */
export function endsIn(
  data: Readonly<Record<string, string>>,
  validity: TlsMaterialCheck['validity'],
  isPast: (ms: number) => boolean,
): readonly MaterialEnd[] {
  return Object.entries(data).flatMap(([entry, text]) => {
    const isAuthority = AUTHORITIES.includes(entry)
    if (!isAuthority && entry !== CHAIN) return tokenEnd(entry, text)
    const ends = certificateEnds(entry, text, validity)
    const lasting = isAuthority ? ends.filter(({ untilMs }) => !isPast(untilMs)) : ends
    return (lasting.length > 0 ? lasting : ends.slice(-1)).toSorted((a, b) => a.untilMs - b.untilMs).slice(0, 1)
  })
}

function certificateEnds(entry: string, text: string, validity: TlsMaterialCheck['validity']): readonly MaterialEnd[] {
  const certificates = certificatesIn(text)
  return certificates.flatMap((pem, index) => {
    const valid = validity(pem)
    const number = certificates.length === 1 ? undefined : index + 1
    return valid === undefined
      ? []
      : [{ kind: 'certificate', entry, number, fromMs: valid.fromMs, untilMs: valid.untilMs }]
  })
}

/** Of a JWT (RFC 7519). It is not verified: only its end is read. */
function tokenEnd(entry: string, text: string): readonly MaterialEnd[] {
  const [, payload] = TOKEN.exec(text.trim()) ?? []
  if (payload === undefined) return []
  const { exp, iat } = claimsIn(payload)
  if (typeof exp !== 'number') return []
  const fromMs = typeof iat === 'number' ? iat * 1000 : Number.NEGATIVE_INFINITY
  return [{ kind: 'token', entry, number: undefined, fromMs, untilMs: exp * 1000 }]
}

function claimsIn(payload: string): { readonly exp?: unknown; readonly iat?: unknown } {
  try {
    return Object(parseJson(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))))
  } catch {
    // Some other text with two dots.
    return {}
  }
}
