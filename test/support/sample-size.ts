/** How many of its cases a test tries: `npm test` a part of them, `npm run test:samples` all. */
export function sampleSize(part: number, all: number): number {
  return process.env.ALL_SAMPLES === undefined ? part : all
}
