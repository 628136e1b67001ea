import { defineSetting, type PolicySource } from '../../policy.ts'
import { type BackendMcpSpec, backendMcp } from './schema.ts'

/** Compiled together with its targets in `protocols/mcp`, which takes the rule sets of all levels (decision A-21); here it is only merged. */
export const mcp = defineSetting({
  section: 'backend',
  field: 'mcp',
  schema: backendMcp,
  merge: 'members',
  accumulates: ['authorization'],
  compile: (sources: readonly PolicySource<BackendMcpSpec>[]) => sources[0],
})
