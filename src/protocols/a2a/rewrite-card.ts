import { foldCase } from '#base/fold-case.ts'
import { walkElements, walkMembers } from '#base/json-text.ts'
import { parseJson } from '#base/parse-json.ts'
import { skipSpace, skipValue } from '#base/skip-json.ts'
import { CardAddresses } from './card-addresses.ts'
import type { CardLocation } from './card-location.ts'

/** Larger cards are refused (decision B87). */
export const MAX_CARD_BYTES = 2 * 1024 * 1024

/** Where the card is in a message: it is the message, or the `result` of a JSON-RPC response. */
export type JsonCardForm = 'card' | 'result'

/**
 * Replaces the addresses of the interfaces in an agent card with addresses of the gateway (decision B86): `url` and `additionalInterfaces`
 * of protocol 0.3, `supportedInterfaces` of 1.0. Interfaces of other hosts and everything else stay as written, byte for byte, except that a
 * changed card loses its signatures (decision B88).
 *
 * Parsers differ about members that occur twice, or in another letter case: the addresses of all of them are replaced.
 * @returns undefined if the text is not a JSON object
 */
export function rewriteCard(body: Uint8Array, form: JsonCardForm, location: CardLocation): string | undefined {
  const text = readText(body)
  if (text === undefined) return undefined
  const found = new FoundCards(text, form)
  const addresses = new CardAddresses(location)
  for (const own of found.own) addresses.addOwn(own)
  const edits = found.addresses.flatMap(({ start, end, value, of }) => {
    const changed = addresses.toClient(value, of.isGrpc)
    return changed === undefined || changed === value ? [] : [{ start, end, text: JSON.stringify(changed) }]
  })
  return edits.length === 0 ? text : applyEdits(text, [...edits, ...found.signatures])
}

/** Text of a JSON object. */
function readText(body: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    const value = parseJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : undefined
  } catch {
    return undefined
  }
}

interface Span {
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

interface Edit extends Span {
  readonly text: string
}

/** A card, or an interface in one. */
interface AddressOwner {
  isGrpc: boolean
}

interface Address extends Span {
  readonly value: string
  readonly of: AddressOwner
}

function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = ''
  let at = 0
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    result += text.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return result + text.slice(at)
}

/** Names as they are read, in lower case. */
const INTERFACE_LISTS = new Set(['additionalinterfaces', 'supportedinterfaces'])
const BINDINGS = new Set(['preferredtransport', 'transport', 'protocolbinding'])

/** The parts of cards in a JSON text that the gateway reads. */
class FoundCards {
  readonly addresses: Address[] = []
  /** Addresses that the agent calls its own: `url`, or that of its preferred HTTP interface. */
  readonly own: string[] = []
  /** Removals of signatures. */
  readonly signatures: Edit[] = []
  readonly #text: string

  constructor(text: string, form: JsonCardForm) {
    this.#text = text
    const start = skipSpace(text, 0)
    if (form === 'card') this.#walkCard(start)
    else
      walkMembers(text, start, (key, at) => (foldCase(key) === 'result' ? this.#walkResult(at) : skipValue(text, at)))
  }

  #walkResult(at: number): number {
    return this.#text[at] === '{' ? this.#walkCard(at) : skipValue(this.#text, at)
  }

  #walkCard(at: number): number {
    const members: (Span & { readonly isSignature: boolean })[] = []
    const card: AddressOwner = { isGrpc: false }
    const end = walkMembers(this.#text, at, (key, start, keyStart) => {
      const name = foldCase(key)
      const memberEnd = this.#walkMember(name, start, card)
      members.push({ start: keyStart, end: memberEnd, isSignature: name === 'signatures' })
      return memberEnd
    })
    const firstKept = members.findIndex(({ isSignature }) => !isSignature)
    for (const [index, { start, end, isSignature }] of members.entries()) {
      if (!isSignature) continue
      // With the comma before it, or the one after it if no member is left before it.
      const isLeading = firstKept < 0 || index < firstKept
      const span = isLeading
        ? { start, end: members[index + 1]?.start ?? end }
        : { start: members[index - 1]!.end, end }
      this.signatures.push({ ...span, text: '' })
    }
    return end
  }

  #walkMember(name: string, at: number, card: AddressOwner): number {
    const address = this.#readAddress(name, at, card)
    if (address !== undefined) this.own.push(address)
    return INTERFACE_LISTS.has(name) ? this.#walkInterfaces(at, name) : skipValue(this.#text, at)
  }

  #walkInterfaces(at: number, name: string): number {
    if (this.#text[at] !== '[') return skipValue(this.#text, at)
    let preferred: string | undefined
    const end = walkElements(this.#text, at, (start) => {
      if (this.#text[start] !== '{') return skipValue(this.#text, start)
      let own: string | undefined
      const owner: AddressOwner = { isGrpc: false }
      const interfaceEnd = walkMembers(this.#text, start, (key, value) => {
        own = this.#readAddress(foldCase(key), value, owner) ?? own
        return skipValue(this.#text, value)
      })
      if (!owner.isGrpc) preferred ??= own
      return interfaceEnd
    })
    if (name === 'supportedinterfaces' && preferred !== undefined) this.own.push(preferred)
    return end
  }

  /** @returns the address, if the member is one */
  #readAddress(name: string, start: number, of: AddressOwner): string | undefined {
    if (BINDINGS.has(name)) of.isGrpc ||= this.#readString(start)?.toUpperCase() === 'GRPC'
    const value = name === 'url' ? this.#readString(start) : undefined
    if (value !== undefined) this.addresses.push({ start, end: skipValue(this.#text, start), value, of })
    return value
  }

  #readString(at: number): string | undefined {
    return this.#text[at] === '"' ? (parseJson(this.#text.slice(at, skipValue(this.#text, at))) as string) : undefined
  }
}
