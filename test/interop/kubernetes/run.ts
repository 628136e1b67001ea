import { runParts } from '../run-parts.ts'
import { checkDefinitions } from './definitions.ts'

/** Checks what the gateway offers to Kubernetes against the programs of Kubernetes. */
await runParts('interop:kubernetes', { definitions: checkDefinitions })
