/**
 * The candidate that a misspelled or abbreviated word probably means, for "did you mean" texts: the most similar one, or else the only one
 * that begins or ends with the word.
 */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const all = [...candidates]
  const small = word.toLowerCase()
  const limit = Math.max(1, Math.floor(word.length / 3))
  let best: string | undefined
  let bestDistance = limit + 1
  for (const candidate of all) {
    const distance = editDistance(small, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best ?? abbreviated(small, all)
}

/** Candidates that have words in common with a compound name such as `requestTimeoutMs`; those with the most of them first, then the most similar. */
export function related(word: string, candidates: Iterable<string>, most: number): readonly string[] {
  const words = wordsIn(word)
  const ranked = [...candidates].map((candidate) => ({
    candidate,
    common: wordsIn(candidate).filter((part) => words.includes(part)).length,
    distance: editDistance(word.toLowerCase(), candidate.toLowerCase()),
  }))
  return ranked
    .filter(({ common }) => common > 0)
    .sort((a, b) => b.common - a.common || a.distance - b.distance)
    .slice(0, most)
    .map(({ candidate }) => candidate)
}

/** The words of a camel-case name, in lower case, without a plural `s`. */
function wordsIn(name: string): readonly string[] {
  const words = name.match(/[A-Z]*[a-z]+|[A-Z]+/g) ?? []
  return words.filter(({ length }) => length >= SHORTEST_PART).map((part) => part.toLowerCase().replace(/s$/, ''))
}

/** Whether one insertion, deletion, replacement or swap makes a word the other one, in upper or lower case. */
export function isOneEditAway(word: string, other: string): boolean {
  return editDistance(word.toLowerCase(), other.toLowerCase()) <= 1
}

const SHORTEST_PART = 3

function abbreviated(small: string, candidates: readonly string[]): string | undefined {
  if (small.length < SHORTEST_PART) return undefined
  const found = candidates.filter((candidate) => {
    const whole = candidate.toLowerCase()
    return whole.startsWith(small) || whole.endsWith(small)
  })
  return found.length === 1 ? found[0] : undefined
}

/** Edit distance (insert, delete, replace, swap neighbors) between two words. */
function editDistance(a: string, b: string): number {
  let beforeLast: readonly number[] = []
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? beforeLast[j - 2]! + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + cost, swapped))
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
