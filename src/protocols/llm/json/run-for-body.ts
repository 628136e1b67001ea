import { runAtOnce, runInSlices, type Steps } from '#base/in-slices.ts'

/** What is done with longer bodies is done in several turns of the event loop, so that other requests wait only for a part of it. */
const MAX_AT_ONCE_BYTES = 65_536

/** @returns a promise only for a long body */
export function runForBody<Result>(body: Uint8Array, work: Steps<Result>): Result | Promise<Result> {
  return isLongBody(body) ? runInSlices(work) : runAtOnce(work)
}

export function isLongBody(body: Uint8Array): boolean {
  return body.length > MAX_AT_ONCE_BYTES
}
