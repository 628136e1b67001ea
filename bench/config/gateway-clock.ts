/** Milliseconds of the clock that all processes share (CLOCK_MONOTONIC). */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
