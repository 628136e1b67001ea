import { fromByteText } from './byte-text.ts'
import { hideCredentialParameters, isCredentialParameter, REDACTED } from './credential-names.ts'

/** A shorter value would be found by chance in texts that have nothing to do with it. */
const MIN_LENGTH = 8
/** Of one line among several; words of a configuration file are shorter, or have other characters. */
const LINE = /^[\w+/=:$.~!-]{16,}$/

const BASE = 0x01_00_01_93
/** `BASE` to the power of `MIN_LENGTH`: what the character that leaves the window has come to. */
const LEAVING = Array.from({ length: MIN_LENGTH }).reduce<number>((power) => Math.imul(power, BASE), 1)
const FILTER_BITS = 0xffff

/** Of the five samples of four characters that begin a value of eight or more, one stands at a multiple of five in any text. */
const SAMPLE = 4
const STRIDE = MIN_LENGTH - SAMPLE + 1
const SAMPLE_BITS = 18

/** Takes secrets out of texts. */
export interface SecretHider {
  /** The text without values of secrets, and without the credentials in queries of URLs. */
  hide(text: string): string
  /** The text without values of secrets; cheap enough for every field of a log. */
  hideValues(text: string): string
}

/**
 * Hides the values of secrets in texts that leave the gateway, wherever they stand. Most texts are turned away by a few samples; in
 * the others all values are looked for in one pass: every window of eight characters has a hash that follows from that of the window
 * before (Rabin and Karp).
 */
export class KnownSecrets implements SecretHider {
  /** By the hash of their first characters, longest first. */
  readonly #values = new Map<number, string[]>()
  /** Samples of the beginnings of values, a bit for each hash. */
  readonly #samples = new Uint8Array(2 ** (SAMPLE_BITS - 3))
  /** Most windows are turned away here. */
  readonly #filter = new Uint8Array((FILTER_BITS + 1) / 8)

  /** @param secrets values of Secrets, and secrets written in other objects, as byte text */
  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) for (const value of spellingsOf(secret)) this.#add(value)
  }

  hide(text: string): string {
    return this.hideValues(hideCredentialParameters(text))
  }

  hideValues(text: string): string {
    if (this.#values.size === 0 || text.length < MIN_LENGTH || !this.#mayHoldValue(text)) return text
    let hidden = ''
    let from = 0
    let at = 0
    let hash = hashAt(text, 0)
    const last = text.length - MIN_LENGTH
    while (at <= last) {
      const found = this.#find(text, at, hash)
      if (found !== undefined) {
        hidden += text.slice(from, at) + REDACTED
        at += found.length
        from = at
        if (at > last) break
        hash = hashAt(text, at)
        continue
      }
      if (at === last) break
      hash = (Math.imul(hash, BASE) + text.charCodeAt(at + MIN_LENGTH) - Math.imul(text.charCodeAt(at), LEAVING)) | 0
      at++
    }
    return from === 0 ? text : hidden + text.slice(from)
  }

  #mayHoldValue(text: string): boolean {
    const samples = this.#samples
    for (let at = 0; at <= text.length - SAMPLE; at += STRIDE) {
      const bit = sampleAt(text, at)
      if ((samples[bit >>> 3]! & (1 << (bit & 7))) !== 0) return true
    }
    return false
  }

  #find(text: string, at: number, hash: number): string | undefined {
    const bit = hash & FILTER_BITS
    if ((this.#filter[bit >>> 3]! & (1 << (bit & 7))) === 0) return undefined
    return this.#values.get(hash)?.find((value) => text.startsWith(value, at))
  }

  #add(value: string): void {
    const hash = hashAt(value, 0)
    const values = this.#values.get(hash) ?? []
    if (values.includes(value)) return
    values.push(value)
    values.sort((a, b) => b.length - a.length)
    this.#values.set(hash, values)
    const bit = hash & FILTER_BITS
    this.#filter[bit >>> 3]! |= 1 << (bit & 7)
    for (let at = 0; at < STRIDE; at++) {
      const sample = sampleAt(value, at)
      this.#samples[sample >>> 3]! |= 1 << (sample & 7)
    }
  }
}

function sampleAt(text: string, at: number): number {
  const first = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 8)
  const sample = first ^ (text.charCodeAt(at + 2) << 16) ^ (text.charCodeAt(at + 3) << 24)
  return Math.imul(sample, 0x9e_37_79_b1) >>> (32 - SAMPLE_BITS)
}

function hashAt(text: string, start: number): number {
  let hash = 0
  for (let i = start; i < start + MIN_LENGTH; i++) hash = (Math.imul(hash, BASE) + text.charCodeAt(i)) | 0
  return hash
}

/** Every way in which a value may stand in a text: as it is, and as base64, JSON and URLs write it. */
function spellingsOf(secret: string): string[] {
  const value = fromByteText(secret)
  const parts = [value, value.trim(), ...partsOf(value.trim())].filter((part) => part.length >= MIN_LENGTH)
  const spelled = parts.flatMap((part) => [
    part,
    JSON.stringify(part).slice(1, -1),
    encodeURIComponent(part.toWellFormed()),
  ])
  return [...spelled, ...(secret.length >= MIN_LENGTH ? [btoa(secret)] : [])]
}

/** What of a value is a secret by itself: the key of an entry for API keys, the token behind a scheme, lines of PEM and htpasswd. */
function partsOf(value: string): string[] {
  if (value.startsWith('{')) return membersOf(value)
  const [, token] = /^[A-Za-z]+ +(\S+)$/.exec(value) ?? []
  if (token !== undefined) return [token]
  if (value.includes('\n')) {
    const lines = value.split('\n').map((line) => line.trim())
    return lines.filter((line) => LINE.test(line)).flatMap((line) => [line, ...passwordOf(line)])
  }
  return passwordOf(value)
}

/** `user:password`, as htpasswd and Basic credentials write it. */
function passwordOf(line: string): string[] {
  const colon = line.indexOf(':')
  return colon < 0 || line.startsWith('//', colon + 1) ? [] : [line.slice(colon + 1)]
}

function membersOf(json: string): string[] {
  try {
    const members = Object.entries(JSON.parse(json) as Readonly<Record<string, unknown>>)
    return members.flatMap(([name, value]) => (isCredentialParameter(name) && typeof value === 'string' ? [value] : []))
  } catch {
    return []
  }
}
