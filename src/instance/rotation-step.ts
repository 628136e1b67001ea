import { certificatesIn, type TlsMaterialCheck } from '#base/tls-material.ts'

/**
 * The entries of the Secret with the certificate of a controller, in PEM: `ca.crt` has the authorities that clients trust, `tls.crt` and `tls.key`
 * the certificate in use. While a rotation is under way, `next.crt` and `next.key` have the one that follows, whose authority is the last in `ca.crt`.
 */
export type CertificateEntries = Readonly<Record<string, string>>

/** An authority and a certificate of it, in PEM. */
export interface IssuedPair {
  readonly ca: string
  readonly certificate: string
  readonly key: string
}

export interface RotationInput {
  readonly nowMs: number
  readonly validity: TlsMaterialCheck['validity']
  /** Names of connected proxies that do not trust these authorities yet, which are the text of `ca.crt`. */
  readonly lagging: (authorities: string) => readonly string[]
  readonly issue: () => Promise<IssuedPair>
}

/** What the leader does with the Secret now. */
export type RotationStep =
  | { readonly kind: 'publish' | 'drop'; readonly entries: CertificateEntries }
  | { readonly kind: 'switch'; readonly entries: CertificateEntries; readonly lagging: readonly string[] }
  | { readonly kind: 'wait'; readonly lagging: readonly string[] }

/**
 * Shares of the life of a certificate, which are twelfths. The next certificate is made at 8 of the old one. From then on the life of the next one
 * counts: it is used from 1 on when all connected proxies trust it, and from 2 on in any case; at 3 the old authority goes, which ends at 4.
 */
const PUBLISH = 8 / 12
const SWITCH_FIRST = 1 / 12
const SWITCH_LAST = 2 / 12
const DROP = 3 / 12

/** The next step of a rotation of authority and certificate. All of its state is in the Secret and in the dates of its certificates. @returns undefined: none is due */
export async function nextStep(entries: CertificateEntries, input: RotationInput): Promise<RotationStep | undefined> {
  const { 'next.crt': certificate, 'next.key': key, ...inUse } = entries
  const age = ageOf(inUse['tls.crt'], input)
  if (certificate !== undefined && key !== undefined)
    return switchStep({ ...inUse, 'tls.crt': certificate, 'tls.key': key }, age, input)
  const authorities = certificatesIn(inUse['ca.crt'] ?? '')
  const own = authorities.at(-1) ?? ''
  if (age >= PUBLISH) {
    const next = await input.issue()
    const published = { 'ca.crt': joined(own, next.ca), 'next.crt': next.certificate, 'next.key': next.key }
    return { kind: 'publish', entries: { ...inUse, ...published } }
  }
  if (authorities.length < 2 || age < DROP) return undefined
  return { kind: 'drop', entries: { ...inUse, 'ca.crt': joined(own) } }
}

/** @param next the entries with the next certificate in use @param age of the one that is in use */
function switchStep(next: CertificateEntries, age: number, input: RotationInput): RotationStep | undefined {
  const nextAge = ageOf(next['tls.crt'], input)
  const hasEnded = age >= 1
  if (nextAge < SWITCH_FIRST && !hasEnded) return undefined
  const lagging = input.lagging(next['ca.crt'] ?? '')
  const isDue = lagging.length === 0 || nextAge >= SWITCH_LAST || hasEnded
  return isDue ? { kind: 'switch', entries: next, lagging } : { kind: 'wait', lagging }
}

/** As a share of its life; 1: it has ended, or cannot be read. */
function ageOf(certificate: string | undefined, { nowMs, validity }: RotationInput): number {
  const valid = certificate === undefined ? undefined : validity(certificate)
  return valid === undefined ? 1 : (nowMs - valid.fromMs) / (valid.untilMs - valid.fromMs)
}

function joined(...authorities: readonly string[]): string {
  return authorities.map((pem) => `${pem.trim()}\n`).join('')
}
