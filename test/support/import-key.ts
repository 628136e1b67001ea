/** The cryptography that proxies hand in, for tests of rooms that have none. */
export { importKey } from '#workers/import-key.ts'
