/** Checks passwords as the gateway does, for tests of rooms without cryptography. */
export { DIRECT_CHECKER } from '#workers/passwords/direct-checker.ts'
