import { defineSetting } from '../../policy.ts'
import { compileBackendTunnel } from './compile.ts'

export type { BackendTunnelSetting } from './compile.ts'

export const tunnel = defineSetting({
  section: 'backend',
  field: 'tunnel',
  merge: 'replace',
  compile: compileBackendTunnel,
})
