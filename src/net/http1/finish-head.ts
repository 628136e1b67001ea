import { trimSpace } from '#base/byte-text.ts'
import { isConnectionLevel } from '../http/field-name.ts'
import { isAuthority, isFieldName, isTarget } from '../http/field-syntax.ts'
import type { Head } from '../http/head.ts'
import { HOST_INVALID, MALFORMED } from '../http/head-outcome.ts'

/** Fields whose removal would change the routing or the end of the message. */
const NOT_DROPPED = new Set(['host', 'content-length'])

/**
 * Second part of reading a request head, for the few heads that need their text: targets that are not in origin form, Connection
 * options, upgrades, TE. Fields nominated by Connection are dropped (RFC 9110, 7.6.1) and recorded; policies decide whether that is
 * allowed (decision A-94).
 * @returns 0, or a negative result of `head-outcome.ts`
 */
export function finishRequestHead(head: Head): number {
  if (!head.unfinished) return 0
  return finishTarget(head) || finishConnection(head, true)
}

/** Like `finishRequestHead`, for a response. */
export function finishResponseHead(head: Head): number {
  return head.unfinished ? finishConnection(head, false) : 0
}

function finishTarget(head: Head): number {
  const target = head.target
  if (head.method === 'CONNECT') return finishConnect(head, target)
  if (target.startsWith('/')) return 0
  if (target === '*') return head.method === 'OPTIONS' ? 0 : MALFORMED
  return finishAbsolute(head, target)
}

/** Absolute form: its authority and Host must be equal (decision A-50); the rest becomes origin form. */
function finishAbsolute(head: Head, target: string): number {
  const match = /^https?:\/\/([^/?]*)([^?]*)(.*)$/i.exec(target)
  if (match === null) return MALFORMED
  const [authority, path, query] = [match[1]!, match[2]!, match[3]!]
  if (!isAuthority(authority) || authority.toLowerCase() !== head.authority.toLowerCase()) return HOST_INVALID
  if (path === '' && query === '' && head.method === 'OPTIONS') head.target = '*'
  else head.target = `${path === '' ? '/' : path}${query}`
  return 0
}

/** CONNECT has the target `host:port` and no body. */
function finishConnect(head: Head, target: string): number {
  if (!isTarget(target) || !isAuthority(target) || !/:[0-9]+$/.test(target)) return MALFORMED
  return head.chunked || head.contentLength > 0 ? MALFORMED : 0
}

function finishConnection(head: Head, ofRequest: boolean): number {
  let upgrade = ''
  let nominatesUpgrade = false
  const nominated = new Set<string>()
  for (let at = 0; at < head.received; at++) {
    // The parser has dropped the connection-level fields.
    if (head.dropped[at] === 0) continue
    const name = head.receivedName(at).toLowerCase()
    if (name === 'upgrade') upgrade = upgrade === '' ? head.receivedValue(at) : `${upgrade}, ${head.receivedValue(at)}`
    else if (name === 'te') head.takesTrailers ||= listOf(head.receivedValue(at)).includes('trailers')
    else if (name === 'connection') {
      for (const option of listOf(head.receivedValue(at))) {
        if (option === 'close') head.saysClose = true
        else if (option === 'keep-alive') head.saysKeepAlive = true
        else if (option === 'upgrade') nominatesUpgrade = true
        else if (!isFieldName(option) || (!ofRequest && NOT_DROPPED.has(option))) return MALFORMED
        else nominated.add(option)
      }
    }
  }
  if (nominated.size > 0) {
    dropNominated(head, nominated)
    if (ofRequest) head.nominated = [...nominated].filter((name) => !isAboutConnection(name))
  }
  if (nominatesUpgrade && takesUpgrade(head, upgrade, ofRequest)) head.upgrade = upgrade
  return 0
}

/** Fields that Connection may nominate because they are connection-level. */
function isAboutConnection(name: string): boolean {
  return name === 'http2-settings' || (name !== 'content-length' && isConnectionLevel(name))
}

/** One pass, because the number of options is limited only by the size of the head. */
function dropNominated(head: Head, nominated: ReadonlySet<string>): void {
  for (let at = 0; at < head.received; at++) {
    const name = head.receivedName(at).toLowerCase()
    if (nominated.has(name) && !NOT_DROPPED.has(name)) head.drop(at)
  }
}

/**
 * Whether an upgrade is supported. It is ignored, as RFC 9110, 7.8 allows, on HTTP/1.0, with a body, and to h2c, whose requests would
 * bypass the rules of the gateway.
 */
function takesUpgrade(head: Head, upgrade: string, ofRequest: boolean): boolean {
  if (head.http10) return false
  if (!ofRequest) return true
  return !head.chunked && head.contentLength <= 0 && !listOf(upgrade).some((protocol) => /^h2c(\/|$)/.test(protocol))
}

function listOf(value: string): string[] {
  const members: string[] = []
  for (const member of value.split(',')) {
    const text = trimSpace(member).toLowerCase()
    if (text !== '') members.push(text)
  }
  return members
}
