import { defineSetting } from '#policies/policy.ts'
import { compileMcpPolicy } from './compile-policy.ts'
import { backendMcp } from './policy-schema.ts'

/** `backend.mcp`. Its rule sets apply from every level (decision A-21): `compileMcp` collects all of them. */
export const mcp = defineSetting({
  section: 'backend',
  field: 'mcp',
  schema: backendMcp,
  merge: 'members',
  protects: true,
  accumulates: ['authorization'],
  compile: compileMcpPolicy,
})
