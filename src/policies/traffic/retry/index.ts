import { definePolicy } from '../../policy.ts'
import { compileRetry } from './compile.ts'
import { trafficRetry } from './schema.ts'

export const retry = definePolicy({
  section: 'traffic',
  field: 'retry',
  schema: trafficRetry,
  merge: 'replace',
  needs: () => [{ path: '', backendsWith: 'forwarding', otherwise: 'calls to MCP targets are not repeated' }],
  compile: compileRetry,
})
