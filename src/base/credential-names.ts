/** Replaces a secret. */
export const REDACTED = '<redacted>'

/** How names of credentials end, without their punctuation: `access_token`, `X-Amz-Signature`, `sessionId`, `user[password]`, `token2`. */
const KEYS =
  'access|account|api|app|auth|client|encryption|functions?|license|master|private|secret|service|session|shared|signing|subscription|user'
const ENDING = new RegExp(
  `(?:token|secret|password|passwd|passphrase|pwd|signature|credential|jwt|assertion|authorization|cookie|session|sessionid|sessid|(?:${KEYS})key(?:id)?)\\d*$`,
)
const PUNCTUATION = /[^a-z\d]+/g

/** Headers that carry credentials although their names do not say so; lower case. */
// Browsers cannot set other headers of a WebSocket, so keys of LLM providers are among its protocols.
const FIELDS: ReadonlySet<string> = new Set(['sec-websocket-protocol'])

/** Query parameters whose whole name means a credential, without punctuation. */
const PARAMETERS: ReadonlySet<string> = new Set([
  'auth',
  'code',
  'codeverifier',
  'key',
  'otp',
  'pass',
  'pin',
  'sid',
  'sig',
])

/** A fast check that excludes almost all other queries. An escape can hide a name from it. */
const MAYBE = /token|key|secret|pass|pwd|sig|auth|cred|code|jwt|assertion|sess|sid|otp|pin|cookie|%/i
/** The name of a parameter: of a query, of a fragment, or of a path segment (`;jsessionid=`). */
const NAME = /([?&;#])([^=?&;#\s"'<>\\]+)=/g
/** Texts quote URLs; in a target, a quote belongs to the value. */
const ENDS_IN_TEXT: ValueEnds = { ofParameter: /[&#\s"'<>\\]|$/g, ofSegment: /[/?;&#\s"'<>\\]|$/g }
const ENDS_IN_TARGET: ValueEnds = { ofParameter: /[&#]|$/g, ofSegment: /[/?;&#]|$/g }

/** Whether the name of a header indicates a credential, in any letter case. */
export function isCredentialField(name: string): boolean {
  const lower = name.toLowerCase()
  return FIELDS.has(lower) || ENDING.test(lower.replace(PUNCTUATION, ''))
}

/** Whether the name of a query parameter indicates a credential, in any letter case and with any punctuation. */
export function isCredentialParameter(name: string): boolean {
  const letters = name.toLowerCase().replace(PUNCTUATION, '')
  return PARAMETERS.has(letters) || ENDING.test(letters)
}

/** Removes the credentials in URLs from any text: the values of parameters whose names indicate one, also if a name is percent-encoded. */
export function hideCredentialParameters(text: string): string {
  return text.includes('=') && MAYBE.test(text) ? hideValues(text, [], ENDS_IN_TEXT) : text
}

/**
 * The same for a text that is the target of a request.
 * @param names of such parameters in addition to the conventional ones
 */
export function redactTarget(target: string, names: readonly string[]): string {
  if (!target.includes('=') || (names.length === 0 && !MAYBE.test(target))) return target
  return hideValues(target, names, ENDS_IN_TARGET)
}

interface ValueEnds {
  readonly ofParameter: RegExp
  readonly ofSegment: RegExp
}

function hideValues(text: string, names: readonly string[], ends: ValueEnds): string {
  let hidden = ''
  let from = 0
  for (const { 0: written, 1: separator, 2: encoded = '', index } of text.matchAll(NAME)) {
    if (index < from) continue
    const name = decode(encoded)
    if (!names.includes(name) && !isCredentialParameter(name)) continue
    const start = index + written.length
    const after = separator === ';' ? ends.ofSegment : ends.ofParameter
    after.lastIndex = start
    const end = after.exec(text)!.index
    if (end === start) continue
    hidden += text.slice(from, start) + REDACTED
    from = end
  }
  return from === 0 ? text : hidden + text.slice(from)
}

/** Form decoding. A name with a malformed escape is taken as it is. */
function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
