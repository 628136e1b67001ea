/** The key import of the workers, for tests of rooms without cryptography. */
export { importKey } from '#workers/import-key.ts'
