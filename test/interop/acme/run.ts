import { runParts } from '../run-parts.ts'
import { checkFailure, checkIssue } from './pebble.ts'

/** Checks ACME against Pebble, the test server of Let's Encrypt. */
await runParts('interop:acme', { issue: checkIssue, failure: checkFailure })
