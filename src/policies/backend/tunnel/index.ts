import { defineSetting } from '../../policy.ts'
import { compileBackendTunnel } from './compile.ts'
import { backendTunnel } from './schema.ts'

export type { BackendTunnelSetting } from './compile.ts'

export const tunnel = defineSetting({
  section: 'backend',
  field: 'tunnel',
  schema: backendTunnel,
  merge: 'replace',
  protects: true,
  compile: compileBackendTunnel,
})
