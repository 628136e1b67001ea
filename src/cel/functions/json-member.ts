/**
 * Finds one member of the object a JSON text holds, without parsing the rest: strings and brackets are skipped over.
 * The last member of a name wins, as with `JSON.parse`. What is skipped is not checked any further.
 * @returns the range of the value, undefined when absent, `not-json` when the text is no JSON object
 */
export function findMember(text: string, name: string): { start: number; end: number } | undefined | 'not-json' {
  let at = skipSpace(text, 0)
  if (text[at] !== '{') return 'not-json'
  let found: { start: number; end: number } | undefined
  at = skipSpace(text, at + 1)
  if (text[at] === '}') return undefined
  for (;;) {
    const keyEnd = skipString(text, at)
    if (keyEnd === undefined) return 'not-json'
    const isWanted = keyEquals(text.slice(at, keyEnd), name)
    at = skipSpace(text, keyEnd)
    if (text[at] !== ':') return 'not-json'
    const start = skipSpace(text, at + 1)
    const end = skipValue(text, start)
    if (end === undefined) return 'not-json'
    if (isWanted) found = { start, end }
    at = skipSpace(text, end)
    if (text[at] === '}') return found
    if (text[at] !== ',') return 'not-json'
    at = skipSpace(text, at + 1)
  }
}

function skipSpace(text: string, at: number): number {
  while (at < text.length && ' \t\n\r'.includes(text[at]!)) at++
  return at
}

/** @returns the index after the closing quote */
function skipString(text: string, at: number): number | undefined {
  if (text[at] !== '"') return undefined
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') return i + 1
  }
  return undefined
}

function keyEquals(literal: string, name: string): boolean {
  if (!literal.includes('\\')) return literal.slice(1, -1) === name
  try {
    return JSON.parse(literal) === name
  } catch {
    return false
  }
}

function skipValue(text: string, at: number): number | undefined {
  if (text[at] === '"') return skipString(text, at)
  if (text[at] !== '{' && text[at] !== '[') return skipScalar(text, at)
  let depth = 0
  for (let i = at; i < text.length; i++) {
    const char = text[i]
    if (char === '"') {
      const end = skipString(text, i)
      if (end === undefined) return undefined
      i = end - 1
    } else if (char === '{' || char === '[') depth++
    else if ((char === '}' || char === ']') && --depth === 0) return i + 1
  }
  return undefined
}

function skipScalar(text: string, at: number): number | undefined {
  let end = at
  while (end < text.length && !' \t\n\r,}]'.includes(text[end]!)) end++
  return end === at ? undefined : end
}
