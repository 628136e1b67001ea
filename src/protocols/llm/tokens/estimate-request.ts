import { parseJson } from '#base/parse-json.ts'
import { decodeText } from '../json/native.ts'
import { estimateTokens } from './estimate-tokens.ts'

/**
 * Of a longer request, the JSON itself is estimated, with its signs and escapes: it may have a million values, and requests of other clients
 * wait meanwhile.
 */
const MAX_PARSED_BYTES = 262_144
const QUOTE = 0x22
const SPACE = 0x20

/** The tokens of a request: all its texts, with tools and schemas. */
export function estimateRequest(body: Uint8Array): number {
  return body.length > MAX_PARSED_BYTES ? estimateLong(body) : estimateJson(decodeText(body, 0, body.length))
}

/** The tokens of a long request. Quotes become spaces: a long run without any would count as data. */
function estimateLong(body: Uint8Array): number {
  // The next attempt may send the same body; `slice` of a Buffer would not copy it.
  const text = new Uint8Array(body)
  for (let at = 0; at < text.length; at++) if (text[at] === QUOTE) text[at] = SPACE
  return estimateTokens(decodeText(text, 0, text.length))
}

function estimateJson(body: string): number {
  let tokens = 0
  const values: unknown[] = [parse(body)]
  while (values.length > 0) {
    const value = values.pop()
    if (typeof value === 'string') tokens += estimateTokens(value)
    else if (Array.isArray(value)) for (const element of value) values.push(element)
    else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        tokens += estimateTokens(key)
        values.push(member)
      }
    }
  }
  return tokens
}

/** A body that only the provider can read is text. */
function parse(body: string): unknown {
  try {
    return parseJson(body)
  } catch {
    return body
  }
}
