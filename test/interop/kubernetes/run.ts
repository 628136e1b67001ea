import { runParts } from '../run-parts.ts'
import { checkDefinitions } from './definitions.ts'
import { checkStrategicMerge } from './strategic-merge.ts'

/** Checks what the gateway offers to Kubernetes against the programs of Kubernetes. */
await runParts('interop:kubernetes', { definitions: checkDefinitions, 'strategic-merge': checkStrategicMerge })
