/** Characters that stand for themselves in RE2, and escaped punctuation. */
const LITERAL_START = /^\^?((?:[-A-Za-z0-9/_~%@:!,;=&']|\\[^A-Za-z0-9])*)(.*)$/s

/** Repetitions that allow the character before them to be absent. */
const MAY_BE_ABSENT = /^[*?{]/

/**
 * The path prefixes that contain every path which a pattern matches: `/` and `/api` for `/api/v[0-9]+`. Rules for them precede the pattern
 * (docs/behaviour/http.md, "Finding a route").
 */
export function coveringPrefixes(pattern: string): readonly string[] {
  const [, start = '', rest = ''] = hasAlternatives(pattern) ? [] : (LITERAL_START.exec(pattern) ?? [])
  const certain = MAY_BE_ABSENT.test(rest) ? start.replace(/\\?.$/s, '') : start
  const elements = certain.replaceAll('\\', '').split('/')
  if (elements[0] !== '') return ['/']
  const isWhole = rest === '' || rest === '$'
  const complete = elements.slice(1, isWhole ? undefined : -1)
  // An empty element ends the list, because no prefix has one.
  const end = complete.indexOf('')
  const usable = end < 0 ? complete : complete.slice(0, end)
  return ['/', ...usable.map((_, index) => `/${usable.slice(0, index + 1).join('/')}`)]
}

/** Whether a pattern may consist of several, any of which has to match. A quoted text counts as one, because its characters are not read. */
function hasAlternatives(pattern: string): boolean {
  if (pattern.includes('\\Q')) return true
  const bare = pattern.replace(/\\./gs, '').replace(/\[\^?\]?[^\]]*\]/g, '')
  let depth = 0
  for (const char of bare) {
    if (char === '(') depth++
    else if (char === ')') depth--
    else if (char === '|' && depth === 0) return true
  }
  return false
}
