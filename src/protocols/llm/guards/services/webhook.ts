import { fromByteText } from '#base/byte-text.ts'
import { isConnectionLevel } from '#net/http/field-name.ts'
import type { Head } from '#net/http/head.ts'
import { ask, failed } from './ask.ts'
import { list, member, textsFor } from './json-shape.ts'
import type { GuardedMessage, GuardPhase, GuardService, ServiceVerdict } from './service.ts'

/** A header that the server gets if a value of it matches. */
export interface ForwardedHeader {
  /** Lower case. */
  readonly name: string
  readonly matches: (value: string) => boolean
}

/** Fields of the server's own request, besides those that describe a body. */
const OWN: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'expect',
  'host',
  'proxy-authenticate',
  'proxy-authorization',
])

/** Members of `action`. */
const MEMBERS: ReadonlySet<string> = new Set(['body', 'status_code', 'reason'])

/** Neither fields of one connection (RFC 9110, 7.6.1) nor those of a body, which is another one. */
function canForward(lowerName: string): boolean {
  return !isConnectionLevel(lowerName) && !OWN.has(lowerName) && !lowerName.startsWith('content-')
}

/** A guard server of the user: it passes, masks or rejects (decision B53). @param destination key of its backend */
export function webhook(destination: string, forwarded: readonly ForwardedHeader[]): GuardService {
  return {
    kind: 'webhook',
    destination,
    masks: true,
    judge({ phase, messages, head }, around) {
      const headers = forwardedHeaders(forwarded, head)
      const body = { body: write(phase, messages) }
      return ask({ destination, path: `/${phase}`, headers, body }, around, (json) =>
        read(json, phase, messages.length),
      )
    },
  }
}

/** All values of each header of which one matches; a header that several entries match is sent once. */
function forwardedHeaders(forwarded: readonly ForwardedHeader[], head: Head): [name: string, value: string][] {
  const matched = new Set<string>()
  head.each((lowerName, value) => {
    const isMatch = forwarded.some(({ name, matches }) => name === lowerName && matches(fromByteText(value)))
    if (isMatch && canForward(lowerName)) matched.add(lowerName)
  })
  const headers: [name: string, value: string][] = []
  head.each((lowerName, value) => {
    if (matched.has(lowerName)) headers.push([lowerName, value])
  })
  return headers
}

function write(phase: GuardPhase, messages: readonly GuardedMessage[]): unknown {
  const entries = messages.map(({ role, content }) => ({ role, content }))
  return phase === 'request' ? { messages: entries } : { choices: entries.map((message) => ({ message })) }
}

/** An object as body masks; a text as body with a status rejects; neither passes. What is half of one is a failure. */
function read(json: unknown, phase: GuardPhase, count: number): ServiceVerdict {
  const action = member(json, 'action')
  if (typeof action !== 'object' || Array.isArray(action)) {
    return failed('the answer of the guard server has no action')
  }
  const body = member(action, 'body')
  const status = member(action, 'status_code')
  if (typeof body === 'object') return readMask(body, phase, count)
  if (body === undefined && status === undefined) return readPass(action)
  if (typeof body !== 'string' || !isStatus(status)) {
    return failed('the guard server rejects without a text as body, or without a status from 200 to 599')
  }
  return { kind: 'reject', status, body }
}

/** With another member, such as a misspelt `body`, it is not known what the server wants. */
function readPass(action: object | null): ServiceVerdict {
  const unknown = Object.keys(action ?? {}).some((name) => !MEMBERS.has(name))
  return unknown ? failed('the action of the guard server has an unknown member, and no body') : { kind: 'pass' }
}

function isStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 200 && value <= 599
}

function readMask(body: unknown, phase: GuardPhase, count: number): ServiceVerdict {
  const entries =
    phase === 'request'
      ? list(member(body, 'messages'))
      : list(member(body, 'choices'))?.map((choice) => member(choice, 'message'))
  const contents = textsFor(
    entries?.map((entry) => member(entry, 'content')),
    count,
  )
  if (contents === undefined) return failed('the guard server masks, but does not return a text for each text')
  return { kind: 'mask', contents }
}
