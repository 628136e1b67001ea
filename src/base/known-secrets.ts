import { fromByteText } from './byte-text.ts'
import { hideCredentialParameters, isCredentialParameter, REDACTED } from './credential-names.ts'
import { ELLIPSIS } from './cut-text.ts'
import { parseJson } from './parse-json.ts'

/** Shorter values would match unrelated text by chance. */
const MIN_LENGTH = 8
/** A line of a multi-line value that may be a secret; lines of configuration files are usually shorter or have other characters. */
const LINE = /^[\w+/=:$.~!-]{16,}$/

const BASE = 0x01_00_01_93
/** `BASE` to the power of `MIN_LENGTH`: the weight of the character that leaves the window. */
const LEAVING = Array.from({ length: MIN_LENGTH }).reduce<number>((power) => Math.imul(power, BASE), 1)
const FILTER_BITS = 0xffff

/** One of the first five 4-character samples of a value is at a multiple of five in any text. */
const SAMPLE = 4
const STRIDE = MIN_LENGTH - SAMPLE + 1
const SAMPLE_BITS = 18

let lastVersion = 0

/** Removes secrets from texts. */
export interface SecretHider {
  /** Changes with the set of secrets: texts that were hidden with another version must be hidden again. */
  readonly version: number
  /** The text without values of secrets and without credentials in URL queries. */
  hide(text: string): string
  /** The text without values of secrets; cheap enough for every log field. */
  hideValues(text: string): string
}

/**
 * Hides the values of secrets in texts that leave the gateway, at any position, and beginnings of them where a text was cut. A few samples
 * exclude most texts. In the others one pass searches for all values: each window of eight characters has a rolling hash (Rabin-Karp).
 */
export class KnownSecrets implements SecretHider {
  readonly version = ++lastVersion
  /** By the hash of their first characters, longest first. */
  readonly #values = new Map<number, string[]>()
  /** Samples of the beginnings of values, one bit per hash. */
  readonly #samples = new Uint8Array(2 ** (SAMPLE_BITS - 3))
  /** Excludes most windows. */
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
      const length = this.#find(text, at, hash)
      if (length > 0) {
        hidden += text.slice(from, at) + REDACTED
        at += length
        from = at
        if (at > last) break
        hash = hashAt(text, at)
        continue
      }
      if (at === last) break
      hash = (Math.imul(hash, BASE) + text.charCodeAt(at + MIN_LENGTH) - Math.imul(text.charCodeAt(at), LEAVING)) | 0
      at++
    }
    return hidden + text.slice(from)
  }

  #mayHoldValue(text: string): boolean {
    const samples = this.#samples
    for (let at = 0; at <= text.length - SAMPLE; at += STRIDE) {
      const bit = sampleAt(text, at)
      if ((samples[bit >>> 3]! & (1 << (bit & 7))) !== 0) return true
    }
    return false
  }

  /** @returns the length of the value that begins there; 0: there is none */
  #find(text: string, at: number, hash: number): number {
    const bit = hash & FILTER_BITS
    if ((this.#filter[bit >>> 3]! & (1 << (bit & 7))) === 0) return 0
    const values = this.#values.get(hash)
    if (values === undefined) return 0
    const whole = values.find((value) => text.startsWith(value, at))
    return whole?.length ?? lengthOfCut(text, at, values)
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

/** The length of the longest beginning of a value that a cut has left; 0: there is none. A value may have an ellipsis of its own. */
function lengthOfCut(text: string, at: number, values: readonly string[]): number {
  const lengths = values.map((value) => text.slice(at, at + lengthInCommon(text, at, value) + 1).lastIndexOf(ELLIPSIS))
  return Math.max(...lengths.filter((length) => length >= MIN_LENGTH), 0)
}

function lengthInCommon(text: string, at: number, value: string): number {
  let length = 0
  while (length < value.length && text[at + length] === value[length]) length++
  return length
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

/** All forms of a value in a text: verbatim, and in base64, JSON and URL encoding. */
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

/** The parts of a value that are secrets on their own: the key of an API key entry, the token after a scheme, lines of PEM and htpasswd. */
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

/** The password of `user:password`, as in htpasswd and Basic credentials. */
function passwordOf(line: string): string[] {
  const colon = line.indexOf(':')
  return colon < 0 || line.startsWith('//', colon + 1) ? [] : [line.slice(colon + 1)]
}

/** The credentials in a file of JSON, at any depth: accounts that others impersonate are in members of their own. */
function membersOf(json: string): string[] {
  try {
    return credentialsIn(parseJson(json))
  } catch {
    return []
  }
}

function credentialsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'string' && isCredentialParameter(name) ? [member, ...partsOf(member)] : credentialsIn(member),
  )
}
