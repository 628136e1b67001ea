/** A source of random choices that are the same in each run. */
export interface SeededRandom {
  /** An integer from 0 to `count` - 1. */
  below(count: number): number
  pick<T>(from: readonly T[]): T
  /** Pieces that make up the text, of 1 to `longest` units: also between the halves of a surrogate pair. */
  pieces(text: string, longest: number): string[]
}

export function seededRandom(seed: number): SeededRandom {
  const below = (count: number): number => {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count
  }
  return {
    below,
    pick: (from) => from[below(from.length)]!,
    pieces(text, longest) {
      const pieces: string[] = []
      for (let from = 0; from < text.length; from += pieces.at(-1)!.length) {
        pieces.push(text.slice(from, from + 1 + below(longest)))
      }
      return pieces
    },
  }
}
