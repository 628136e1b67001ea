/** For rooms that cannot import the real implementation. */
export { HASHING } from '#workers/hashing.ts'
