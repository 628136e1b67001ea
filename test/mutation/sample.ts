/** @returns at most `size` of `items`, in their order; the same ones for the same seed */
export function sample<T>(items: readonly T[], size: number, seed: number): T[] {
  const next = randomNumbers(seed)
  let missing = size
  return items.filter((_, index) => {
    const taken = next() * (items.length - index) < missing
    if (taken) missing--
    return taken
  })
}

/** Numbers from 0 to 1: a linear congruential generator (Numerical Recipes, 7.1). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
