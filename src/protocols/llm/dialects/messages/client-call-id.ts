/** What the API accepts as the id of a call; its vendor refuses histories with others. */
const ACCEPTED = /^[A-Za-z0-9_-]+$/

/** Before an id of another form. */
const PREFIX = 'toolu_b64_'

const BASE64URL = { alphabet: 'base64url', omitPadding: true } as const
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The id of a call for a client of the messages API. Others than its API has are written in base64url, so that the history can be read back. */
export function clientCallId(given: string): string {
  return ACCEPTED.test(given) && !given.startsWith(PREFIX)
    ? given
    : PREFIX + encoder.encode(given.toWellFormed()).toBase64(BASE64URL)
}

/** The id that the provider gave a call. */
export function givenCallId(id: string): string {
  if (!id.startsWith(PREFIX)) return id
  const given = decoded(id.slice(PREFIX.length))
  return given !== undefined && clientCallId(given) === id ? given : id
}

function decoded(text: string): string | undefined {
  try {
    return decoder.decode(Uint8Array.fromBase64(text, BASE64URL))
  } catch {
    return undefined
  }
}
