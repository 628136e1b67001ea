// Normalized forms of a path (decision A-51; docs/behaviour/http.md, "Paths"). A path has no query and begins with a slash.

/** Dot segments, with separators in every encoding that some server decodes, and `;`, which ends the segment name for some servers. */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:$|[/\\;]|%2f|%5c|%3b)/i

/** Overlong UTF-8: lenient decoders decode it to `/` or `.` (RFC 3629, 3). */
const OVERLONG = /%(?:c[01]%[89ab]|e0%[89]|f0%8|f8%8[0-7]|fc%8[0-3])/i

const FAULTS: readonly (readonly [fault: string, pattern: RegExp])[] = [
  ['a malformed percent escape', /%(?![0-9A-Fa-f]{2})/],
  ['a backslash', /\\/],
  ['NUL', /%00/],
  ['an overlong UTF-8 sequence', OVERLONG],
  ['a dot segment', DOT_SEGMENT],
]

/** All faults in one expression. */
const ANY_FAULT = new RegExp(FAULTS.map(([, { source }]) => source).join('|'), 'i')

/** Why a path is refused before any rule applies; undefined if it is valid. */
export function pathFault(path: string): string | undefined {
  if (!ANY_FAULT.test(path)) return undefined
  return FAULTS.find(([, pattern]) => pattern.test(path))![0]
}

/** The forwarded form: unreserved characters are decoded, other escapes are upper case (RFC 3986, 6.2.2). */
export function normalPath(path: string): string {
  return decode(path, UNRESERVED)
}

/**
 * The form for matching and expressions. Servers decode more than the unreserved characters and merge slashes, so every character that
 * is allowed in a path is decoded, and runs of `/` become one. `%2F` and `%5C` are unchanged: see `otherReadings`.
 */
export function matchedPath(path: string): string {
  const decoded = decode(path, VISIBLE)
  return decoded.includes('//') ? decoded.replace(/\/{2,}/g, '/') : decoded
}

/** The matched form of a request target; the query is unchanged. */
export function matchedTarget(target: string): string {
  return matchedPathOf(target) + target.slice(endOfPath(target))
}

/** The matched form of the path of a request target. */
export function matchedPathOf(target: string): string {
  return matchedPath(target.slice(0, endOfPath(target)))
}

function endOfPath(target: string): number {
  const mark = target.indexOf('?')
  return mark < 0 ? target.length : mark
}

/** Whether servers may interpret a path in normal form differently. */
export function isAmbiguous(normal: string): boolean {
  return /;|%3B|%2F|%5C/.test(normal)
}

/**
 * Other interpretations of a path in normal form: `%2F` and `%5C` as separators, and segments without their parameters (`;x`, RFC 3986,
 * 3.3), which some servers remove before decoding and some afterwards, when `%3B` is `;` as well.
 * @param keepsParameters the backend treats `;` as part of segment names
 */
export function otherReadings(normal: string, keepsParameters: boolean): readonly string[] {
  const readings = new Set<string>()
  const bare = keepsParameters ? [] : withoutParameters(normal)
  for (const text of new Set([normal, ...bare])) {
    for (const decoded of withSeparators(text)) {
      readings.add(matchedPath(decoded))
      if (!keepsParameters) for (const reading of withoutParameters(decoded)) readings.add(matchedPath(reading))
    }
  }
  readings.delete(matchedPath(normal))
  return [...readings]
}

function withSeparators(path: string): Set<string> {
  const slashes = path.replaceAll('%2F', '/')
  return new Set([path, slashes, path.replaceAll('%5C', '/'), slashes.replaceAll('%5C', '/')])
}

/** Before and after decoding. */
function withoutParameters(path: string): readonly string[] {
  return [path.replace(/;[^/]*/g, ''), path.replace(/(?:;|%3B)[^/]*/g, '')]
}

/**
 * The rest of a path in normal form after a prefix in matched form; undefined if it does not begin with the prefix, or the prefix ends
 * inside a segment.
 * @param prefix without a slash at the end
 */
export function afterPrefix(normal: string, prefix: string): string | undefined {
  const end = normal.startsWith(prefix) ? prefix.length : endOfPrefix(normal, prefix)
  if (end === undefined) return undefined
  const rest = normal.slice(end)
  return rest === '' || rest.startsWith('/') ? rest : undefined
}

/** The index where a prefix ends in a path that encodes it differently. */
function endOfPrefix(normal: string, prefix: string): number | undefined {
  let end = 0
  for (let at = 0; at < prefix.length; ) {
    const piece = PIECE.exec(normal.slice(end))?.[0]
    if (piece === undefined) return undefined
    const matched = matchedPath(piece)
    if (!prefix.startsWith(matched, at)) return undefined
    end += piece.length
    at += matched.length
  }
  return end
}

/** A run of slashes, an escape, or a character. */
const PIECE = /^(?:\/+|%..|.)/

/** The replacement of each escape, by byte: `A` for 0x41, `%2F` for 0x2f. */
type Decoded = readonly string[]

const UNRESERVED = decodedWhere(/[-._~0-9A-Za-z]/)
/** Visible characters, except those that have another meaning when they are not escaped. */
const VISIBLE = decodedWhere(/[!-~](?<![/\\%?#])/)

function decodedWhere(characters: RegExp): Decoded {
  return Array.from({ length: 256 }, (_, code) => {
    const character = String.fromCharCode(code)
    return characters.test(character) ? character : `%${code.toString(16).toUpperCase().padStart(2, '0')}`
  })
}

/** Replaces escapes; other text is unchanged. */
function decode(path: string, decoded: Decoded): string {
  let text = ''
  let kept = 0
  for (let at = path.indexOf('%'); at >= 0; at = path.indexOf('%', at + 3)) {
    const triplet = path.slice(at, at + 3)
    const instead = triplet.length < 3 ? undefined : decoded[Number(`0x${triplet.slice(1)}`)]
    if (instead === undefined || instead === triplet) continue
    text += path.slice(kept, at) + instead
    kept = at + 3
  }
  return text + path.slice(kept)
}
