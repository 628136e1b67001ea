const IS_PART = process.env.ALL_SAMPLES === undefined

/** How many of its cases a test tries: `npm test` a part of them, `npm run test:samples` all. */
export function sampleSize(part: number, all: number): number {
  return IS_PART ? part : all
}

/** The cases that a test tries: `npm test` each `stride`-th, from the number `first` on, `npm run test:samples` all. */
export function sampleOf<T>(cases: readonly T[], stride: number, first: number): readonly T[] {
  return IS_PART ? cases.filter((_, at) => at % stride === first % stride) : cases
}
